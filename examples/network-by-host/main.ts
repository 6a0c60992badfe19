// node main.ts FOLDER HOSTS COMMAND: runs a command that writes in a folder alone and reaches these hosts alone ("" for none).
import { ToolRegistry } from "@toolcrib/core";
import { createRunBashTool } from "@toolcrib/tools-bash";
import { createHostSandbox } from "./hostSandbox.ts";

const [folder, hosts = "", command] = process.argv.slice(2);
if (folder === undefined || command === undefined) throw new Error('usage: node main.ts FOLDER "HOST,HOST" "COMMAND"');
const { sandbox, close } = createHostSandbox(folder, hosts.split(",").filter(Boolean));
try {
  const registry = new ToolRegistry([createRunBashTool({ root: folder, deny: [".env"], sandbox })]);
  console.log(await registry.execute("run_bash", { command }));
} finally {
  await close();
}
