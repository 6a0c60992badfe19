import { testReadme } from "@toolcrib/testing";

testReadme(new URL("../README.md", import.meta.url), {
  "data.ts":
    /^\{ path: 'notes\/today\.md', bytes: 8, created: true \}\n\{\s+path: 'notes',\s+entries: \[ \{ name: 'today\.md', type: 'file' \} \],\s+total: 1\s+\}\n$/,
  "limits.ts":
    /^one\ntwo\n\n\[truncated: shown 2 lines, there is more; pass offset=3 to continue\]\na\.txt\nb\.txt\n\n\[truncated: shown 2 of 5 entries; pass offset=3 to continue\]\n$/,
});

testReadme(new URL("../../../docs/src/content/docs/tools/files.md", import.meta.url), {
  "patch.ts":
    /^Changed greet\.js\nCreated docs\/greet\.md \(12 bytes\)\nRemoved old\.txt\n {2}return `Hello \$\{name\}`;\n$/,
  "requireRead.ts":
    /^Error .+: notes\.md was not read yet; read it first\nError .+: notes\.md has changed since it was read; read it again\n$/,
  "deny.ts":
    /^main\.js\n\n\[left out: 1 denied name\]\nError .+: app\/\.env is on the list of denied paths; .+\nError .+: app contains paths .+\n$/,
  "readable.ts": /^# API\n\nError .+: \.\.\/library\/api\.md is outside .+\/project; use a path inside\n$/,
});
