import { testReadme } from "@toolcrib/testing";

testReadme(new URL("../README.md", import.meta.url), {
  "fetch.ts":
    /^http:\/\/127\.0\.0\.1:\d+\/, as Markdown\. Its 5 lines follow\.\n\n# Tools\n\n## Drill\n\nSee the \[manual\]\(http:\/\/127\.0\.0\.1:\d+\/manual\)\.\n$/,
});
