import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configFolder, stateBase } from "./stateBase.ts";

// Absolute here too; on Windows they begin with a drive.
const env = { LOCALAPPDATA: "/users/me/local", APPDATA: "/users/me/roaming" };

test("on Windows the state is in %LOCALAPPDATA% and the configuration in %APPDATA%, unless the XDG variables say otherwise", () => {
  expect(stateBase(env, "win32")).toBe("/users/me/local");
  expect(configFolder(env, "win32")).toBe(join("/users/me/roaming", "toolcrib"));
  expect(stateBase({ ...env, XDG_STATE_HOME: "/state" }, "win32")).toBe("/state");
  expect(configFolder({ ...env, XDG_CONFIG_HOME: "/config" }, "win32")).toBe(join("/config", "toolcrib"));
});

test("elsewhere, and where Windows names no absolute folder, they are below the home directory", () => {
  expect(stateBase(env, "linux")).toBe(join(homedir(), ".local", "state"));
  expect(configFolder(env, "linux")).toBe(join(homedir(), ".config", "toolcrib"));
  expect(stateBase({ LOCALAPPDATA: "here" }, "win32")).toBe(join(homedir(), ".local", "state"));
  expect(configFolder({ APPDATA: "" }, "win32")).toBe(join(homedir(), ".config", "toolcrib"));
});
