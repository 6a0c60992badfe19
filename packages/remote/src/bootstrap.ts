/**
 * Runs in the shell of the remote: looks for a Node that is new enough, and runs the loader with it. Says in a frame where there is
 * none, on a line of its own, so that a greeting on standard output does no harm.
 */
const findNode = `
for node in \${2:+"$2"} node nodejs /usr/local/bin/node /usr/bin/node "$HOME"/.local/bin/node "$HOME"/.nvm/versions/node/*/bin/node \\
  "$HOME"/.volta/bin/node "$HOME"/.local/share/mise/installs/node/*/bin/node \\
  "$HOME"/.local/share/fnm/node-versions/*/installation/bin/node; do
  version=$(NODE_OPTIONS= "$node" -p process.versions.node </dev/null 2>/dev/null) || continue
  major=\${version%%.*} rest=\${version#*.}
  if [ "$major" -gt 22 ] || { [ "$major" -eq 22 ] && [ "\${rest%%.*}" -ge 18 ]; }; then
    export TOOLCRIB_NODE_OPTIONS="$NODE_OPTIONS"
    NODE_OPTIONS= exec "$node" -e "$1"
  fi
  case " $found " in *" $version "*) ;; *) found="$found $version" ;; esac
done
printf '\\n{"type":"failed","problem":"there is no Node.js 22.18 or later (found:%s%s); install it there (https://nodejs.org), or name one with the option node"}\\n' "\${found:- none}" "\${2:+, and none at the path of the option node}"
exit 127
`;

/**
 * Runs in Node, there: takes the file from standard input (a line with its digest, and one with the file, compressed, in base64), checks the
 * digest, and runs it in memory: nothing is written to a disk. Standard input goes on to the file.
 */
const loader = `
const { createHash } = require("node:crypto");
const { brotliDecompressSync } = require("node:zlib");
const vm = require("node:vm");
const { stdin } = process;
let held = [], breaks = 0;
const fail = (problem) => {
  stdin.destroy();
  process.stdout.write("\\n" + JSON.stringify({ type: "failed", problem }) + "\\n", () => process.exit(1));
};
const take = (piece) => {
  held.push(piece);
  for (const byte of piece) if (byte === 10) breaks++;
  if (breaks < 2) return;
  stdin.off("data", take).pause();
  const all = Buffer.concat(held), first = all.indexOf(10), second = all.indexOf(10, first + 1);
  const { sha256 } = JSON.parse(all.subarray(0, first));
  const file = Buffer.from(all.toString("latin1", first + 1, second), "base64");
  const digest = createHash("sha256").update(file).digest("hex");
  if (digest !== sha256) return fail("what arrived is not what was sent (SHA-256 " + digest + ")");
  const options = { filename: "toolHost.cjs", importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER };
  const host = { exports: {} };
  vm.compileFunction(brotliDecompressSync(file).toString(), ["module", "require"], options)(host, require);
  host.exports.serve(all.subarray(second + 1));
};
stdin.on("data", take);
`;

/** Returns the words that start the host in a remote, after those that lead there. `node` is tried first, unless it is empty. */
export function startCommand(node: string): readonly string[] {
  return ["sh", "-c", findNode, "toolcrib", loader, node];
}

/** Quotes one word for a POSIX shell. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
