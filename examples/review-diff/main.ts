// git diff origin/main...HEAD | node main.ts [CHECKOUT]
import { text } from "node:stream/consumers";
import { messageOf } from "@toolcrib/core/text";
import { modelFromEnvironment } from "./model.ts";
import { review, toAnnotation } from "./review.ts";

try {
  const findings = await review(
    await modelFromEnvironment(),
    process.argv[2] ?? process.cwd(),
    await text(process.stdin),
  );
  for (const finding of findings) console.log(toAnnotation(finding));
  console.error(`findings: ${findings.length}`);
  if (findings.some(({ severity }) => severity === "error")) process.exitCode = 1;
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 2;
}
