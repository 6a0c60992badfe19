import { testReadme } from "../../../testing/src/testReadme.ts";

testReadme(new URL("../README.md", import.meta.url), {
  "start.ts": /^\{"stdout":"v\d[^"]*\\n","stderr":"","exit_code":0\}\n$/,
  "shell.ts": /^\{"stdout":"two\\n","stderr":"","exit_code":0\}\n$/,
  "limit.ts":
    /^Error executing run_bash: Invalid arguments: timeout: must be a positive number of milliseconds up to 600000, got 3600000\n$/,
});

testReadme(new URL("../../../docs/src/content/docs/tools/commands.md", import.meta.url), {
  "progress.ts": /^(?:\[ 'compiling' \]\n)*\[ 'compiling', 'linking' \]\n$/,
  "spill.ts":
    /^\[truncated: shown \d+ of 588895 bytes; all of it is in \/\S+\/spilled\/run_bash-[\w-]+-stdout\.txt\]\n$/,
  "background.ts":
    /^\{"running":true,"exit_code":null,"stdout":"listening\\n","stderr":""\}\n\[ \[ 'echo listening; sleep 600', true \] \]\n\{"running":false,"exit_code":137,"stdout":"","stderr":""\}\n$/,
  "guard.ts":
    /^\[\{"kind":"execute","command":"git push","shell":"sh","cwd":"\/","env":\{"GIT_DIR":"other"\}\}\]\nError executing run_bash: Permission denied: this agent only looks\n$/,
});
