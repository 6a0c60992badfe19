import { userInfo } from "node:os";
import { afterEach, describe, expect, test, vi } from "vitest";
import { homeFolder } from "./homeFolder.ts";
import { compilePathPatterns } from "./pathPatterns.ts";

afterEach(() => vi.unstubAllEnvs());

describe("the user's home", () => {
  test("is HOME", () => {
    vi.stubEnv("HOME", "/somewhere/else");
    expect(homeFolder()).toBe("/somewhere/else");
  });

  test.each(["", "home/me", "."])("is that of the account where HOME is %j, also in patterns", (home) => {
    vi.stubEnv("HOME", home);
    const { homedir } = userInfo();
    expect(homeFolder()).toBe(homedir);
    const patterns = compilePathPatterns(["~/secret"], { roots: ["/r"] });
    expect(patterns.match(`${homedir}/secret`)).toBe("~/secret");
    expect(patterns.match("/r/secret")).toBeUndefined();
  });
});
