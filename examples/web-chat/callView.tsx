import { type FormEvent, useEffect, useState } from "react";
import type { Answer, Call, Question } from "./chat.ts";

interface CallProps {
  readonly call: Call;
  readonly isBusy: boolean;
  /** The answer that waits for those to other questions. */
  readonly given: Answer | undefined;
  readonly answer: (id: string, one: Answer) => void;
}

/** Shows a call: folded with its effects, or as a question. */
export function CallView({ call, isBusy, given, answer }: CallProps) {
  const { name, args, result, isError, question } = call;
  const effects = useEffects(name, question?.args ?? args);
  const state = question
    ? "asks"
    : result !== undefined
      ? isError
        ? "failed"
        : "done"
      : isBusy
        ? "running"
        : "stopped";
  return (
    <section className={`call ${state}`} aria-label={`Call of ${name}`}>
      <details>
        <summary>
          <span className="name">{name}</span>
          <span className="effects">{effects.length > 0 ? effects.join(", ") : firstText(args)}</span>
          <span className="state">{state}</span>
        </summary>
        <h3>Arguments</h3>
        <pre>{JSON.stringify(args, null, 2)}</pre>
        {result !== undefined && (
          <>
            <h3>Result</h3>
            <pre>{result}</pre>
          </>
        )}
      </details>
      {question && given === undefined && <QuestionView question={question} answer={(one) => answer(call.id, one)} />}
      {question && given !== undefined && <p className="given">Answered. Other questions wait.</p>}
    </section>
  );
}

/** Asks the server what a call would touch. */
function useEffects(name: string, args: object): readonly string[] {
  const [effects, setEffects] = useState<readonly string[]>([]);
  const body = JSON.stringify({ name, args });
  useEffect(() => {
    const leaving = new AbortController();
    fetch("/effects", {
      ...{ method: "POST", headers: { "Content-Type": "application/json" }, body, signal: leaving.signal },
    })
      .then(async (reply) => setEffects((await reply.json()) as string[]))
      .catch(() => undefined);
    return () => leaving.abort();
  }, [body]);
  return effects;
}

function firstText(args: object): string {
  const text = Object.values(args).find((value) => typeof value === "string");
  return typeof text === "string" ? text.slice(0, 80) : "";
}

interface QuestionProps {
  readonly question: Question;
  readonly answer: (one: Answer) => void;
}

function QuestionView({ question, answer }: QuestionProps) {
  const [form, setForm] = useState<"no" | "args">();
  const { text, needsWords, choices = [], always } = question;
  return (
    <fieldset aria-label={`Question: ${text}`} className="question">
      <p>{text}</p>
      <div className="buttons">
        {needsWords ? (
          choices.map((choice) => (
            <button type="button" key={choice} onClick={() => answer({ output: choice })}>
              {choice}
            </button>
          ))
        ) : (
          <>
            <button type="button" className="main" onClick={() => answer(true)}>
              Allow
            </button>
            {always !== undefined && (
              <button type="button" title={always} onClick={() => answer({ always: true })}>
                Always allow
              </button>
            )}
            <button type="button" aria-expanded={form === "args"} onClick={() => setForm("args")}>
              Change …
            </button>
            <button type="button" aria-expanded={form === "no"} onClick={() => setForm("no")}>
              Reject …
            </button>
          </>
        )}
      </div>
      {needsWords && choices.length === 0 && <Words label="Answer" submit={(output) => answer({ output })} />}
      {form === "no" && <Words label="Reason (may be empty)" mayBeEmpty submit={(why) => answer(why || false)} />}
      {form === "args" && <Arguments args={question.args} submit={(args) => answer({ args })} />}
    </fieldset>
  );
}

/** The user has just opened the form, or is asked by it. */
function focus(element: HTMLElement | null): void {
  element?.focus();
  element?.closest("form")?.scrollIntoView({ block: "nearest" });
}

interface WordsProps {
  readonly label: string;
  readonly mayBeEmpty?: boolean;
  readonly submit: (words: string) => void;
}

function Words({ label, mayBeEmpty = false, submit }: WordsProps) {
  const [words, setWords] = useState("");
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    if (mayBeEmpty || words.trim() !== "") submit(words.trim());
  };
  return (
    <form className="words" onSubmit={onSubmit}>
      <label>
        {label}
        <input ref={focus} value={words} onChange={({ target }) => setWords(target.value)} />
      </label>
      <button type="submit">{mayBeEmpty ? "Reject" : "Answer"}</button>
    </form>
  );
}

function Arguments({
  args,
  submit,
}: {
  readonly args: object;
  readonly submit: (args: Record<string, unknown>) => void;
}) {
  const [json, setJson] = useState(() => JSON.stringify(args, null, 2));
  const [problem, setProblem] = useState<string>();
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    try {
      submit(JSON.parse(json) as Record<string, unknown>);
    } catch (error) {
      setProblem(`This is no JSON: ${(error as Error).message}`);
    }
  };
  return (
    <form className="words" onSubmit={onSubmit}>
      <label>
        Arguments
        <textarea
          ref={focus}
          rows={json.split("\n").length}
          value={json}
          aria-invalid={problem !== undefined}
          onChange={({ target }) => setJson(target.value)}
        />
      </label>
      {problem !== undefined && <p role="alert">{problem}</p>}
      <button type="submit">Allow with these</button>
    </form>
  );
}
