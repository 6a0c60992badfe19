import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findFolders } from "./folders.ts";

// Absolute here too; on Windows they begin with a drive.
const env = { LOCALAPPDATA: "/users/me/local", APPDATA: "/users/me/roaming" };

test("on Windows the state is in %LOCALAPPDATA% and the configuration in %APPDATA%, unless the XDG variables say otherwise", () => {
  const own = { state: join("/users/me/local", "toolcrib"), config: join("/users/me/roaming", "toolcrib") };
  expect(findFolders(env, "win32")).toEqual({ home: homedir(), ...own });
  expect(findFolders({ ...env, XDG_STATE_HOME: "/state" }, "win32").state).toBe(join("/state", "toolcrib"));
  expect(findFolders({ ...env, XDG_CONFIG_HOME: "/config" }, "win32").config).toBe(join("/config", "toolcrib"));
});

test("elsewhere, and where Windows names no absolute folder, they are below the home directory", () => {
  const own = {
    home: homedir(),
    state: join(homedir(), ".local", "state", "toolcrib"),
    config: join(homedir(), ".config", "toolcrib"),
  };
  expect(findFolders(env, "linux")).toEqual(own);
  expect(findFolders({ LOCALAPPDATA: "here", APPDATA: "" }, "win32")).toEqual(own);
});
