// just-bash: grep in a shell made of JavaScript.

import { answer } from "../pairs.mjs";
import { importPeer, installPeer } from "../peers.mjs";

const { Bash, OverlayFs } = await importPeer(installPeer("just-bash"), "just-bash");
const overlay = new OverlayFs({ root: process.argv[2] });
const bash = new Bash({ fs: overlay, cwd: overlay.getMountPoint() });

answer(async ({ pattern }) => {
  const { stdout, stderr } = await bash.exec(`grep -rnF -- '${pattern}' .`);
  if (stdout === "") throw new Error(stderr);
  return stdout.split("\n").length - 1;
});
