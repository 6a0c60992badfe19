import { createObjectAnswer } from "@toolcrib/agent";
import { type JsonSchema, ToolRegistry } from "@toolcrib/core";
import { isPlainObject } from "@toolcrib/core/internal";
import { usageError } from "../../exitReasons.ts";
import { messageOf } from "../../explain.ts";
import { readGivenFile } from "../../state/givenFile.ts";
import { parseJson } from "../../state/jsonText.ts";

/** The schema in the file that `--output-schema` names. Throws a usage error where an answer cannot be held to it. */
export async function readOutputSchema(path: string): Promise<JsonSchema> {
  const what = `--output-schema ${path}`;
  const text = await readGivenFile(path, what);
  if (text === undefined) throw usageError(`${what}: there is no such file`);
  const schema = parseJson(text, what);
  if (!isPlainObject(schema)) throw usageError(`${what}: expected a JSON Schema, which is an object`);
  try {
    createObjectAnswer(new ToolRegistry(), schema);
    return schema;
  } catch (error) {
    throw usageError(`${what}: ${messageOf(error)}`);
  }
}
