import { testReadme } from "../../../testing/src/testReadme.ts";
import { whyNoSandbox } from "../fixtures/sandbox.ts";

testReadme(
  new URL("../../../docs/src/content/docs/guides/sandbox.md", import.meta.url),
  {
    "protected.ts":
      /^\{"stdout":"","stderr":"touch: [^"]*\.vscode\/tasks\.json[^"]*\\n\[sandbox: commands cannot change \.vscode, which is protected\]","exit_code":1\}\n$/,
    "deny.ts":
      /^\{"stdout":"","stderr":"cat: app\/\.env: Permission denied\\n\[sandbox: commands cannot open denied paths, [^"]*\]","exit_code":1\}\n$/,
  },
  whyNoSandbox === undefined ? [] : ["deny.ts", "protected.ts"],
);
