import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { usageError } from "../exitReasons.ts";
import { configFile } from "./configFile.ts";
import { parseSetting, settingKeys, settingsFromEnvironment, variableName } from "./settingValues.ts";

const schema = {
  type: "object",
  additionalProperties: false,
  properties: {
    $schema: { type: "string" },
    model: { type: "string" },
    allow: { type: "array", items: { type: "string" } },
    sessions: {
      type: "object",
      additionalProperties: false,
      properties: { keepDays: { type: "integer", minimum: 1 }, keep: { type: "boolean" } },
    },
  },
};

describe("a configuration file", () => {
  test("is read, changed in place and checked, with nothing else left behind", async () => {
    const path = join(temporaryFolder("file"), "deep", "config.json");
    const file = configFile({ path, schema });
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
    const path = join(temporaryFolder("file"), "config.json");
    const file = configFile({ path, name: "settings", schema, advice: "mend it" });
    const failure = async (text: string): Promise<unknown> => {
      writeFileSync(path, text);
      return file.read().catch((error: unknown) => error);
    };
    expect(await failure(`{\n "sessions": {\n  "keepDay": 1 } }`)).toEqual(
      usageError(
        "settings:3: sessions.keepDay is not a key; did you mean keepDays? (allowed: keepDays, keep); mend it",
      ),
    );
    expect(await failure(`{ "sessions": { "keep": true,\n "keep": false } }`)).toEqual(
      usageError("settings:2: keep stands there twice; mend it"),
    );
  });

  test("of two that change it at once, none is lost", async () => {
    const path = join(temporaryFolder("file"), "config.json");
    const values: [string, unknown][] = [
      ["model", "x"],
      ["allow", ["a"]],
      ["sessions.keep", true],
    ];
    await Promise.all(values.map(([key, value]) => configFile({ path, schema }).set(key, value)));
    expect((await configFile({ path, schema }).read())?.values).toEqual(Object.fromEntries(values));
  });
  test("a value is taken out again, and one that is not there changes nothing, not even the folder", async () => {
    const folder = temporaryFolder("file");
    const path = join(folder, "deep", "config.json");
    const file = configFile({ path, schema });
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
    expect(settingKeys(schema)).toEqual(["model", "allow", "sessions.keepDays", "sessions.keep"]);
    expect(variableName("sessions.keepDays")).toBe("TOOLCRIB_SESSIONS_KEEP_DAYS");
    expect(parseSetting(schema, "sessions.keepDays", ["3"])).toBe(3);
    expect(parseSetting(schema, "sessions.keep", ["true"])).toBe(true);
    expect(parseSetting(schema, "model", ["3"])).toBe("3");
    expect(parseSetting(schema, "allow", ["a b", "c"])).toEqual(["a b", "c"]);
    expect(parseSetting(schema, "allow", [`["a","b"]`])).toEqual(["a", "b"]);
    const environment = { TOOLCRIB_MODEL: "m", TOOLCRIB_SESSIONS_KEEP: "false", TOOLCRIB_ALLOW: "x", MODEL: "y" };
    expect(await settingsFromEnvironment(environment, schema)).toEqual({
      model: "m",
      "sessions.keep": false,
    });
    const wrong = settingsFromEnvironment({ TOOLCRIB_SESSIONS_KEEP_DAYS: "0" }, schema);
    await expect(wrong).rejects.toThrow("TOOLCRIB_SESSIONS_KEEP_DAYS: ");
  });
});
