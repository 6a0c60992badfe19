import type { UIMessage } from "ai";
import { useCallback, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { ChatView } from "./chatView.tsx";
import { useAgUi } from "./useAgUi.tsx";
import { useAiSdk } from "./useAiSdk.tsx";

type Protocol = "ai-sdk" | "ag-ui";
const names = { "ai-sdk": "AI SDK", "ag-ui": "AG-UI" } as const;

/** The chat and the protocol are in the address: a reload finds both again. */
function fromAddress(): { readonly id: string; readonly protocol: Protocol } {
  const query = new URLSearchParams(location.search);
  const protocol = query.get("protocol") === "ag-ui" ? "ag-ui" : "ai-sdk";
  return { id: query.get("chat") ?? crypto.randomUUID(), protocol };
}

function App() {
  const [{ id, protocol }, open] = useState(fromAddress);
  /** Counts how often the page has connected anew. */
  const [connection, setConnection] = useState(0);
  const [isCut, setCut] = useState(false);
  const onCut = useCallback(() => setCut(true), []);
  useEffect(() => history.replaceState(null, "", `?${new URLSearchParams({ chat: id, protocol })}`), [id, protocol]);
  useEffect(() => {
    if (!isCut) return;
    const timer = setInterval(async () => {
      const reply = await fetch(`/ai-sdk/${id}`).catch(() => undefined);
      if (!reply?.ok) return;
      setCut(false);
      setConnection((count) => count + 1);
    }, 1000);
    return () => clearInterval(timer);
  }, [isCut, id]);

  const key = `${id} ${protocol} ${connection}`;
  return (
    <>
      <header>
        <h1>{document.title}</h1>
        <fieldset>
          <legend>Protocol</legend>
          {(["ai-sdk", "ag-ui"] as const).map((value) => (
            <label key={value}>
              <input
                type="radio"
                name="protocol"
                checked={protocol === value}
                onChange={() => open({ id, protocol: value })}
              />
              {names[value]}
            </label>
          ))}
        </fieldset>
        <button type="button" onClick={() => open({ id: crypto.randomUUID(), protocol })}>
          New chat
        </button>
      </header>
      {protocol === "ag-ui" ? (
        <OverAgUi key={key} id={id} isCut={isCut} onCut={onCut} />
      ) : (
        <OverAiSdk key={key} id={id} isCut={isCut} onCut={onCut} />
      )}
    </>
  );
}

interface Connected {
  readonly id: string;
  readonly isCut: boolean;
  readonly onCut: () => void;
}

function OverAgUi({ id, isCut, onCut }: Connected) {
  return <ChatView chat={useAgUi(id, onCut)} isCut={isCut} />;
}

/** Reads what the server has of the chat, and then the turn that runs. */
function OverAiSdk({ id, isCut, onCut }: Connected) {
  const [saved, setSaved] = useState<UIMessage[]>();
  useEffect(() => {
    fetch(`/ai-sdk/${id}`)
      .then(async (reply) => setSaved((await reply.json()) as UIMessage[]))
      .catch(onCut);
  }, [id, onCut]);
  return saved ? <WithSaved id={id} saved={saved} isCut={isCut} onCut={onCut} /> : null;
}

function WithSaved({ id, saved, isCut, onCut }: Connected & { readonly saved: UIMessage[] }) {
  return <ChatView chat={useAiSdk(id, saved, onCut)} isCut={isCut} />;
}

const root = document.getElementById("chat");
if (root) createRoot(root).render(<App />);
