import { expect, test } from "vitest";
import { addressRule } from "./addressRule.ts";

const check = (server: string, named: string) => (): URL => addressRule(new URL(server))(named, "The address");

test.each([
  ["https://mcp.example/mcp", "https://auth.example/"],
  ["https://10.1.2.3/mcp", "https://192.168.0.5/"],
  ["http://127.0.0.1:8000/mcp", "http://localhost:9000/"],
  ["http://127.0.0.1:8000/mcp", "https://auth.example/"],
])("a server at %s may name %s", (server, named) => {
  expect(check(server, named)().href).toBe(named);
});

test.each([
  ["https://mcp.example/mcp", "http://auth.example/"],
  ["https://mcp.example/mcp", "https://127.0.0.1/"],
  ["https://mcp.example/mcp", "https://127.1/"],
  ["https://mcp.example/mcp", "https://2130706433/"],
  ["https://mcp.example/mcp", "https://[::1]/"],
  ["https://mcp.example/mcp", "https://[::ffff:127.0.0.1]/"],
  ["https://mcp.example/mcp", "https://[::ffff:169.254.169.254]/"],
  ["https://mcp.example/mcp", "https://localhost./"],
  ["https://mcp.example/mcp", "https://169.254.169.254/latest"],
  ["https://mcp.example/mcp", "https://[fd00::1]/"],
  ["https://10.1.2.3/mcp", "https://127.0.0.1/"],
  ["http://127.0.0.1:8000/mcp", "http://10.1.2.3/"],
  ["http://127.0.0.1:8000/mcp", "ftp://127.0.0.1/"],
  ["https://mcp.example/mcp", "https://user:pass@auth.example/"],
  ["https://mcp.example/mcp", "//auth.example"],
])("a server at %s may not name %s", (server, named) => {
  expect(check(server, named)).toThrow(TypeError);
});
