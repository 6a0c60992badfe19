import type { AgentErrorCode } from "../../errors.ts";
import type { Remedy } from "../../messages.ts";
import { addressAdvice, type Service } from "../models/address.ts";
import { refusedSetting } from "../models/settings.ts";
import type { Failure } from "./describeFailure.ts";

interface Verdict {
  readonly code: AgentErrorCode;
  readonly retryable: boolean;
  readonly advice: Remedy["advice"];
  /** The service's action, if the code does not say all. */
  readonly refused?: string;
  /** The wait before a retry, where the service names none. */
  readonly waitMs?: number;
}

const loadingMs = 10_000;

/** Words for an account that has nothing left, which no retry brings back. */
const spentCode = /^(?:insufficient_quota|exceeded_current_quota_error|usage_limit_reached|insufficient_balance|1113)$/;
const spentMessage = new RegExp(
  [
    "insufficient (?:account )?(?:balance|credits?|funds|quota)",
    "credit balance is too low",
    "(?:daily|weekly|monthly|billing|spend(?:ing)?|usage) (?:usage |spend(?:ing)? |hard )?(?:limit|quota|cap)",
    "exceeded your (?:current|monthly|assigned) (?:token )?quota",
    "per[ _]day",
    "out of credits?",
    "account (?:balance|is (?:in arrears|suspended))",
  ].join("|"),
  "i",
);
/** With such words the service says that it takes requests again soon. */
const waitNamed = /(?:try again|retry) in \d|per[ _-]?(?:min|sec)/i;

function isSpent({ code, message, headers }: Failure, status: number): boolean {
  if (status === 402 || code === "insufficient_quota") return true;
  if (status !== 429 && status !== 403 && status !== 400) return false;
  if (waitNamed.test(message) || headers?.get("retry-after")) return false;
  return spentCode.test(code) || spentMessage.test(message);
}

const cannotLoad =
  /(?:failed|unable) to load (?:the )?model|could ?n[o']t load (?:the )?model|model\b.{0,300}failed to load|requires more system memory/i;

/** Says what a refusal means, and whether the same request may succeed later. */
export function verdict(failure: Failure, status: number, service: Service): Verdict {
  const key = { option: "apiKey", variable: service.keyVariable } as const;
  if (isSpent(failure, status))
    return { code: "rate_limit", retryable: false, advice: ["Add credit to the account, or use another model."] };
  if (cannotLoad.test(failure.message))
    return { code: "server", retryable: false, advice: ["See the log of the server, or use another model."] };
  switch (status) {
    case 401:
      return { code: "authentication", retryable: false, advice: ["Check ", key, "."] };
    case 403:
      return { code: "authentication", retryable: false, advice: ["Check what the key may do (", key, ")."] };
    case 404:
      return { code: "not_found", retryable: false, advice: addressAdvice(service) };
    case 429:
      return { code: "rate_limit", retryable: true, advice: ["Wait and try again, or use another model."] };
    case 408:
      return { code: "timeout", retryable: true, advice: ["Try again."] };
    case 409:
      return { code: "server", retryable: true, advice: ["Try again."] };
    case 503:
      if (/loading model/i.test(failure.message))
        return { code: "server", retryable: true, advice: ["Wait until it is loaded."], waitMs: loadingMs };
      return { code: "server", retryable: true, advice: ["Try again later."] };
    default:
      return status >= 500
        ? { code: "server", retryable: true, advice: ["Try again later."] }
        : { code: "invalid_request", retryable: false, ...refusal(failure, service) };
  }
}

function refusal({ message }: Failure, service: Service): Pick<Verdict, "advice" | "refused"> {
  const setting = refusedSetting(message, service);
  if (!setting) return { advice: ["Check the model and the settings of the provider."] };
  return { advice: setting.advice, refused: `refused the request because of its ${setting.name}` };
}
