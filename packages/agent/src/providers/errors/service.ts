/** The facts about the service behind a provider that its errors use. */
export interface Service {
  /** The provider's name. */
  readonly name: string;
  /** For sentences: `OpenAI`. */
  readonly label: string;
  readonly model: string;
  /** Undefined: the SDK's default. */
  readonly baseURL: string | undefined;
  /** The variable that holds the key. */
  readonly keyVariable: string | undefined;
  readonly secrets: readonly string[];
}
