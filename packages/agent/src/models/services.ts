/** The services that need a key, in the order in which keys are looked for, and where they are unless a variable says otherwise. */
export const services = [
  {
    name: "openai",
    variable: "OPENAI_API_KEY",
    baseVariable: "OPENAI_BASE_URL",
    address: "https://api.openai.com/v1",
  },
  {
    name: "anthropic",
    variable: "ANTHROPIC_API_KEY",
    baseVariable: "ANTHROPIC_BASE_URL",
    address: "https://api.anthropic.com",
  },
  { name: "openrouter", variable: "OPENROUTER_API_KEY", baseVariable: "", address: "https://openrouter.ai/api/v1" },
] as const;

/** The names that `chooseModel` takes before the `/` of a model. */
export const providerNames: readonly string[] = [
  ...services.map(({ name }) => name),
  "ollama",
  "lmstudio",
  "llamacpp",
  "openai-compatible",
  "offline",
];
