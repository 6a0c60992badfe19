import { defineConfig } from "tsup";
import { build, buildProgram } from "../../tsup.base.ts";

export default defineConfig([build(), buildProgram("toolHost", "src/host/toolHost.ts")].flat());
