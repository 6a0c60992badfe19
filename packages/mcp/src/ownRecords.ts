import { attempt } from "@toolcrib/core/internal";
import { OwnFile } from "@toolcrib/kit/files";
import { record } from "./mapping.ts";

/** Records by name in one JSON file that only its user can read and write. */
export interface OwnRecords {
  get(name: string): Promise<unknown>;
  /** Undefined forgets one. Processes that do so at the same time wait for each other. */
  set(name: string, value: object | undefined): Promise<void>;
}

/** Keeps records below `field` of the file; other content counts as empty. Rejects when somebody else may have written the file. */
export function ownRecords(path: string, field: string, options: ConstructorParameters<typeof OwnFile>[1]): OwnRecords {
  const file = new OwnFile(path, options);
  const all = (text: string | undefined): Map<string, unknown> =>
    new Map(Object.entries(record(record(attempt(() => JSON.parse(text ?? "") as unknown))[field])));
  return {
    get: async (name) => all(await file.read()).get(name),
    async set(name, value) {
      await file.change((text) => {
        const records = all(text);
        if (value === undefined) records.delete(name);
        else records.set(name, value);
        return `${JSON.stringify({ [field]: Object.fromEntries(records) }, undefined, 2)}\n`;
      });
    },
  };
}
