import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sharedFolder } from "@toolcrib/testing";
import { beforeAll, expect, test } from "vitest";
import { runtimeTree } from "../runtimeTree.mjs";

interface Component {
  readonly purl: string;
  readonly licenses?: readonly unknown[];
  readonly externalReferences?: readonly {
    readonly type: string;
    readonly hashes?: readonly { readonly alg: string }[];
  }[];
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = sharedFolder("sbom");

beforeAll(() => {
  execFileSync(process.execPath, [join(root, "scripts/release/sbom.mjs"), folder], {
    stdio: ["ignore", "ignore", "pipe"],
  });
});

test.each(readdirSync(join(root, "packages")))(
  "%s: the SBOM names every run-time dependency and nothing else",
  (name) => {
    const [file = ""] = readdirSync(folder).filter((one) => new RegExp(`^toolcrib-${name}-\\d`).test(one));
    const bom = JSON.parse(readFileSync(join(folder, file), "utf8")) as {
      bomFormat: string;
      metadata: { component: Component };
      components: readonly Component[];
      dependencies: readonly { ref: string; dependsOn: readonly string[] }[];
    };
    expect(bom.bomFormat).toBe("CycloneDX");
    const named = [bom.metadata.component, ...bom.components].map(({ purl }) =>
      decodeURIComponent(purl).replace("pkg:npm/", ""),
    );
    const tree = runtimeTree(join(root, "packages", name));
    expect(named.sort()).toEqual([...tree.keys()].sort());
    for (const { purl, licenses, externalReferences = [] } of bom.components) {
      expect(licenses, purl).toHaveLength(1);
      if (purl.startsWith("pkg:npm/%40toolcrib/")) continue;
      const source = externalReferences.find(({ type }) => type === "distribution");
      expect(source?.hashes?.[0]?.alg, purl).toBe("SHA-512");
    }
    // Every package but the published one is needed by another.
    const needed = new Set(bom.dependencies.flatMap(({ dependsOn }) => dependsOn));
    expect(bom.components.filter(({ purl }) => !needed.has(purl))).toEqual([]);
  },
);
