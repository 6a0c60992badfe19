import { testReadme } from "../../../testing/src/testReadme.ts";
import { whyNoSandbox } from "../fixtures/sandbox.ts";
import { sandboxProblem } from "./bashOptions.ts";
import { createSandboxRuntime } from "./sandboxRuntime.ts";

const withoutRuntime = await sandboxProblem({ sandbox: createSandboxRuntime({ writable: import.meta.dirname }) });

testReadme(
  new URL("../../../docs/src/content/docs/guides/sandbox.md", import.meta.url),
  {
    "protected.ts":
      /^\{"stdout":"","stderr":"touch: [^"]*\.vscode\/tasks\.json[^"]*\\n\[sandbox: commands cannot change \.vscode, which is protected\]","exit_code":1\}\n$/,
    "deny.ts":
      /^\{"stdout":"","stderr":"cat: app\/\.env: Permission denied\\n\[sandbox: commands cannot open denied paths, [^"]*\]","exit_code":1\}\n$/,
    "hosts.ts": /^\{"stdout":"Connection blocked by network allowlist[^"]*0\\n","stderr":"","exit_code":0\}\n$/,
  },
  [
    ...(whyNoSandbox === undefined ? [] : ["deny.ts", "protected.ts"]),
    ...(withoutRuntime === undefined ? [] : ["hosts.ts"]),
  ],
);
