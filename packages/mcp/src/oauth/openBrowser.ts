import { spawn } from "node:child_process";
import { findServerProgram } from "../client/transport/serverProgram.ts";

/**
 * Opens an address in the user's browser, where there is one; false where there is none to be found. The program is not looked for where
 * the tools of an agent may write, and no shell reads the address.
 */
export function openBrowser(address: URL, env: NodeJS.ProcessEnv = process.env): boolean {
  if (address.protocol !== "https:" && address.protocol !== "http:") return false;
  const [name, ...words] = openers[process.platform] ?? ["xdg-open"];
  const hasScreen = process.platform in openers || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
  if (!hasScreen || name === undefined) return false;
  try {
    const program = findServerProgram(name, {});
    const child = spawn(program.command, [...words, address.href], {
      // Its own PATH, as it starts other programs by name.
      env: { ...env, PATH: program.env.PATH },
      stdio: "ignore",
      detached: true,
    });
    child.on("error", () => undefined);
    child.unref();
    return true;
  } catch {
    return false;
  }
}

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ["open"],
  win32: ["rundll32.exe", "url.dll,FileProtocolHandler"],
};
