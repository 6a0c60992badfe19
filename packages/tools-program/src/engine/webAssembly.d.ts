// What is used of the global of this name, which the types of Node leave to those of browsers.
declare namespace WebAssembly {
  /** A compiled engine, which threads share. */
  interface Module {
    readonly compiled: unique symbol;
  }
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
}
