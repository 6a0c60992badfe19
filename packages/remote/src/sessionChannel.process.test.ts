import { test } from "vitest";
import { checkSession, daytonaSandbox, e2bSandbox } from "../testing/sessions.ts";

test.each([
  ["E2B", e2bSandbox],
  ["Daytona", daytonaSandbox],
])("a session of %s runs the tools, and is started again where its program dies", (_, make) => checkSession(make()));
