import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { usageError } from "../exitReasons.ts";
import { findFolders } from "../state/folders.ts";
import { type ConfigFile, projectConfig, userConfig } from "./configFile.ts";
import { parseSetting, settingsFromEnvironment, variableName } from "./settingValues.ts";

/** The user's own file below a folder. */
const ownFile = (folder: string): ConfigFile => userConfig(findFolders({ XDG_CONFIG_HOME: folder }));

describe("a configuration file", () => {
  test("is read, changed in place and checked, with nothing else left behind", async () => {
    const file = ownFile(temporaryFolder("file"));
    const { path } = file;
    expect(await file.read()).toBeUndefined();
    await file.set("sessions.keepDays", 3);
    await file.set("model", "a/b");
    expect(readFileSync(path, "utf8")).toBe(`{\n  "sessions": {"keepDays":3},\n  "model": "a/b"\n}\n`);
    expect((await file.read())?.values).toEqual({ "sessions.keepDays": 3, model: "a/b" });
    await expect(file.set("sessions.keepDays", 0)).rejects.toThrow(
      "config.json:2: sessions.keepDays must be at least 1",
    );
    expect((await file.read())?.values).toEqual({ "sessions.keepDays": 3, model: "a/b" });
  });

  test("names the line of what is wrong, at any depth", async () => {
    const folder = temporaryFolder("file");
    const file = projectConfig(folder);
    const failure = async (text: string): Promise<unknown> => {
      writeFileSync(join(folder, ".toolcrib.json"), text);
      return file.read().catch((error: unknown) => error);
    };
    expect(await failure(`{\n "sessions": {\n  "keepDay": 1 } }`)).toEqual(
      usageError(
        ".toolcrib.json:3: sessions.keepDay is not a key; did you mean keepDays? (allowed: keepDays, keepMegabytes); correct it with: toolcrib config edit --project",
      ),
    );
    expect(await failure(`{ "sessions": { "keepDays": 1,\n "keepDays": 2 } }`)).toEqual(
      usageError(".toolcrib.json:2: keepDays stands there twice; correct it with: toolcrib config edit --project"),
    );
  });

  test("of two that change it at once, none is lost", async () => {
    const folder = temporaryFolder("file");
    const values: [string, unknown][] = [
      ["model", "x"],
      ["allow", ["a"]],
      ["sessions.keepDays", 4],
    ];
    await Promise.all(values.map(([key, value]) => ownFile(folder).set(key, value)));
    expect((await ownFile(folder).read())?.values).toEqual(Object.fromEntries(values));
  });
  test("a value is taken out again, and one that is not there changes nothing, not even the folder", async () => {
    const folder = temporaryFolder("file");
    const file = ownFile(folder);
    const { path } = file;
    expect(await file.unset("model")).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
    await file.set("sessions.keepDays", 3);
    await file.set("model", "a/b");
    expect((await file.unset("sessions.keepDays"))?.values).toEqual({ model: "a/b" });
    expect(await file.unset("sessions.keepDays")).toBeUndefined();
    expect(readFileSync(path, "utf8")).toBe(`{\n  "sessions": {},\n  "model": "a/b"\n}\n`);
    writeFileSync(path, "{ nope");
    await expect(file.unset("model")).rejects.toThrow("config.json:1: ");
  });
});

describe("settings", () => {
  test("have keys, variables, and values from words", async () => {
    expect(variableName("sessions.keepDays")).toBe("TOOLCRIB_SESSIONS_KEEP_DAYS");
    expect(parseSetting("sessions.keepDays", ["3"])).toBe(3);
    expect(parseSetting("mcp", ["true"])).toBe(true);
    expect(parseSetting("model", ["3"])).toBe("3");
    expect(parseSetting("allow", ["a b", "c"])).toEqual(["a b", "c"]);
    expect(parseSetting("allow", [`["a","b"]`])).toEqual(["a", "b"]);
    const environment = { TOOLCRIB_MODEL: "m", TOOLCRIB_MCP: "false", TOOLCRIB_ALLOW: "x", MODEL: "y" };
    expect(await settingsFromEnvironment(environment)).toEqual({
      model: "m",
      mcp: false,
    });
    const wrong = settingsFromEnvironment({ TOOLCRIB_SESSIONS_KEEP_DAYS: "0" });
    await expect(wrong).rejects.toThrow("TOOLCRIB_SESSIONS_KEEP_DAYS: ");
  });
});
