import fc from "fast-check";

/**
 * One seed for every property, so that `npm test` asks the same questions each time. The long suites draw a new one;
 * TOOLCRIB_SEED repeats theirs.
 */
const fixed = 20_261_122;

fc.configureGlobal({ seed: Number(process.env.TOOLCRIB_SEED ?? fixed) });
