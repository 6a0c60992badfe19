import { type FormEvent, type KeyboardEvent, memo, useEffect, useRef, useState } from "react";
import { CallView } from "./callView.tsx";
import type { Answer, Call, Chat, Entry, Part } from "./chat.ts";

/** Shows a chat. Texts of models and tools are text nodes: none becomes markup. */
export function ChatView({ chat, isCut }: { readonly chat: Chat; readonly isCut: boolean }) {
  const [given, setGiven] = useState<ReadonlyMap<string, Answer>>(new Map());
  const asked = chat.entries.flatMap(({ parts }) => parts).filter(isAsked);
  const open = asked.filter(({ id }) => !given.has(id));
  const end = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new entries move the end.
  useEffect(() => {
    end.current?.scrollIntoView({ block: "end" });
  }, [chat.entries]);

  // Questions of one turn are answered together: AG-UI takes no answer to some of them.
  const answer = (id: string, one: Answer): void => {
    const all = new Map([...given, [id, one]]);
    const isLast = asked.every((call) => all.has(call.id));
    setGiven(isLast ? new Map() : all);
    if (isLast) chat.answer(all);
  };
  return (
    <>
      <main>
        <div role="log" aria-label="Conversation" aria-live="polite" aria-busy={chat.isBusy}>
          {chat.entries.length === 0 && <Welcome isOff={chat.isBusy} send={(text) => chat.send(text, undefined)} />}
          {chat.entries.map((entry) => (
            <EntryView key={entry.id} entry={entry} isBusy={chat.isBusy} given={given} answer={answer} />
          ))}
        </div>
        <div role="status" className="status">
          {statusOf(chat, open.length, isCut)}
        </div>
        {chat.problem !== undefined && (
          <p role="alert" className="problem">
            {chat.problem}
          </p>
        )}
        <div ref={end} />
      </main>
      <Composer chat={chat} isOff={isCut || asked.length > 0} />
    </>
  );
}

function isAsked(part: Part): part is Call {
  return part.type === "call" && part.question !== undefined;
}

function statusOf({ isBusy }: Chat, open: number, isCut: boolean): string {
  if (isCut) return "The server cannot be reached. Trying again …";
  if (isBusy) return "Working …";
  if (open > 0) return open === 1 ? "A question waits for your answer." : `${open} questions wait for your answers.`;
  return "";
}

const examples = ["help", "list .", 'write "A first note." to note.txt'];

function Welcome({ isOff, send }: { readonly isOff: boolean; readonly send: (text: string) => void }) {
  return (
    <section className="welcome" aria-label="Examples">
      <h2>Ask about the files of this folder</h2>
      <p>Without a key, a stand-in answers a few requests in plain words. Try one:</p>
      {examples.map((text) => (
        <button type="button" key={text} disabled={isOff} onClick={() => send(text)}>
          {text}
        </button>
      ))}
    </section>
  );
}

interface EntryProps {
  readonly entry: Entry;
  readonly isBusy: boolean;
  readonly given: ReadonlyMap<string, Answer>;
  readonly answer: (id: string, one: Answer) => void;
}

const EntryView = memo(function EntryView({ entry, isBusy, given, answer }: EntryProps) {
  const name = entry.role === "user" ? "You" : "Agent";
  return (
    <article className={entry.role} aria-label={name}>
      {entry.parts.map((part, index) => {
        // Parts are only ever added, so their places are their names.
        const key = part.type === "call" ? part.id : index;
        if (part.type === "call")
          return <CallView key={key} call={part} isBusy={isBusy} given={given.get(part.id)} answer={answer} />;
        if (part.type === "picture") return <img key={key} src={part.url} alt={`From ${name.toLowerCase()}`} />;
        if (part.type === "text") return part.text === "" ? null : <p key={key}>{part.text}</p>;
        return (
          <details key={key} className="reasoning">
            <summary>Reasoning</summary>
            <p>{part.text}</p>
          </details>
        );
      })}
    </article>
  );
});

function Composer({ chat, isOff }: { readonly chat: Chat; readonly isOff: boolean }) {
  const [text, setText] = useState("");
  const [picture, setPicture] = useState<File>();
  const submit = (event?: FormEvent): void => {
    event?.preventDefault();
    if (text.trim() === "" || chat.isBusy || isOff) return;
    chat.send(text, picture);
    setText("");
    setPicture(undefined);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <form className="composer" onSubmit={submit}>
      <label className="picture" title="Add a picture">
        <span className="hidden">{picture ? `Picture: ${picture.name}` : "Add a picture"}</span>
        <span aria-hidden="true">{picture ? "✓" : "+"}</span>
        <input
          type="file"
          accept="image/png,image/jpeg,image/gif,image/webp"
          onChange={({ target }) => setPicture(target.files?.[0])}
        />
      </label>
      <textarea
        aria-label="Message"
        placeholder={isOff ? "Answer first" : "Ask, or tell what to do"}
        rows={1}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
      />
      {chat.isBusy ? (
        <button type="button" onClick={chat.stop}>
          Stop
        </button>
      ) : (
        <button type="submit" className="main" disabled={isOff || text.trim() === ""}>
          Send
        </button>
      )}
    </form>
  );
}
