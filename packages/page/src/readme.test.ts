import { testReadme } from "@toolcrib/testing";

testReadme(new URL("../README.md", import.meta.url), {
  "chat.ts":
    /^start\nstart-step\ntool-input-available\ntool-output-available\nstart-step\n(?:tool-input-available\n){2}tool-approval-request\nfinish\n$/,
});
