import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileCache, drawPicture, temporaryFolder, writeIn } from "@toolcrib/testing";
import { type Browser, hasChromium, type Page, startChromium } from "@toolcrib/testing/browser";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createApp } from "../../../examples/web-chat/server.ts";
import { hostile, chatModel as provider } from "../testing/chatModel.ts";
import { serve } from "../testing/serve.ts";

const pictures = process.env.PICTURES;
if (pictures !== undefined) mkdirSync(pictures, { recursive: true });
let browser: Browser;
beforeAll(async () => {
  if (hasChromium) browser = await startChromium();
});
afterAll(async () => await browser?.close());

/** A chat, as a user has it before the first message. Whatever the page logs as an error fails the test. */
async function open(url: string, protocol: string, options: Parameters<Browser["newPage"]>[0] = {}): Promise<Page> {
  const page = await browser.newPage(options);
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  onTestFinished(async () => {
    await page.close();
    expect(errors).toEqual([]);
  });
  await page.goto(`${url}/?chat=${crypto.randomUUID()}&protocol=${protocol}`);
  return page;
}

async function startApp(): Promise<{ url: string; root: string }> {
  const root = temporaryFolder("web-chat");
  writeIn(root, "picture.png", await drawPicture(240, 160));
  const app = await createApp({ provider, root, journals: temporaryFolder("chats") });
  return { root, url: await serve(async (request) => await app.fetch(request)) };
}

const log = (page: Page) => page.getByRole("log", { name: "Conversation" });
const question = (page: Page) => page.getByRole("group", { name: /^Question: / });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

async function send(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await button(page, "Send").waitFor();
  await page.keyboard.press("Enter");
}

async function settled(page: Page): Promise<void> {
  await button(page, "Send").waitFor();
  await page.getByRole("status").filter({ hasText: /^$/ }).waitFor({ state: "attached" });
}

describe.skipIf(!hasChromium).each(["ai-sdk", "ag-ui"])("web-chat over %s", (protocol) => {
  test("a message is answered, text as it comes; a reload in the middle goes on, a stop ends it", async () => {
    const page = await open((await startApp()).url, protocol);
    await send(page, "slow");
    await log(page).getByText("word3 ").waitFor();
    expect(await log(page).getByText("word59").count()).toBe(0);
    await page.reload();
    await log(page).getByText("word0 word1 word2 word3").waitFor();
    expect(await log(page).getByText("word59").count()).toBe(0);
    await log(page).getByText("word59").waitFor();
    await settled(page);
    await send(page, "slow");
    await log(page).getByText("word5 ").nth(1).waitFor();
    await button(page, "Stop").click();
    await settled(page);
    expect(await log(page).getByText("word59").count()).toBe(1);
  });

  test("what a model says never becomes markup, also after a reload", async () => {
    const page = await open((await startApp()).url, protocol);
    const title = await page.title();
    await send(page, "hello");
    for (const _ of [1, 2]) {
      await log(page).getByText(hostile).waitFor();
      expect([await page.title(), await log(page).locator("img").count()]).toEqual([title, 0]);
      await page.reload();
    }
  });

  test("a question is answered by yes, by no with a reason, by other arguments and for always", async () => {
    const { url, root } = await startApp();
    const page = await open(url, protocol);
    await send(page, "write a.txt");
    await question(page).waitFor();
    expect(await page.getByRole("status").textContent()).toBe("A question waits for your answer.");
    expect(await question(page).textContent()).toMatch(/write_file would write a\.txt/);
    expect(await page.getByRole("region", { name: "Call of write_file" }).textContent()).toMatch(/write a\.txt/);
    await page.reload();
    await button(page, "Allow").click();
    await log(page).getByText("Done.").waitFor();
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one\n");

    await send(page, "write b.txt");
    await button(page, "Reject …").click();
    await page.keyboard.type("not today");
    await page.keyboard.press("Enter");
    await log(page).getByText("Done.").nth(1).waitFor();
    await page.locator(".call summary").last().click();
    await log(page)
      .getByText(/Permission denied: not today/)
      .waitFor();

    await send(page, "write c.txt");
    await button(page, "Change …").click();
    const json = page.getByRole("textbox", { name: "Arguments" });
    await json.fill((await json.inputValue()).replace("one", "two"));
    await button(page, "Allow with these").click();
    await log(page).getByText("Done.").nth(2).waitFor();
    expect([existsSync(join(root, "b.txt")), readFileSync(join(root, "c.txt"), "utf8")]).toEqual([false, "two\n"]);

    await send(page, "write d.txt");
    await button(page, "Always allow").click();
    await log(page).getByText("Done.").nth(3).waitFor();
    await send(page, "write d.txt");
    await log(page).getByText("Done.").nth(4).waitFor();
    expect(await question(page).count()).toBe(0);
  });

  test("a question of the model has its choices, and a picture is shown", async () => {
    const page = await open((await startApp()).url, protocol);
    await send(page, "choose");
    await button(page, "that").click();
    await log(page).getByText("Done.").waitFor();
    await send(page, "read picture.png");
    const picture = page.getByRole("img", { name: "From agent" });
    await picture.waitFor();
    expect(await picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)).toBe(240);
    await page.setInputFiles("input[type=file]", {
      name: "mine.png",
      mimeType: "image/png",
      buffer: await drawPicture(90, 60),
    });
    await send(page, "hello");
    await page.getByRole("img", { name: "From you" }).waitFor();
  });

  test("the keyboard alone reaches the message, the call and every answer", async () => {
    const page = await open((await startApp()).url, protocol);
    await page.getByRole("textbox", { name: "Message" }).focus();
    await page.keyboard.type("write a.txt");
    await button(page, "Send").waitFor();
    await page.keyboard.press("Enter");
    await question(page).waitFor();
    await page.getByRole("button", { name: "New chat" }).focus();
    const reached: string[] = [];
    for (let count = 0; count < 8; count += 1) {
      await page.keyboard.press("Tab");
      const name = await page.evaluate<string>("document.activeElement.textContent");
      reached.push(name.replace("write_filewrite a.txtasks", "the call"));
    }
    expect(reached.join()).toMatch(/the call,Allow,Always allow,Change …,Reject …/);
  });

  test.each([
    [360, "light"],
    [1600, "dark"],
  ] as const)("at %i pixels, %s: nothing is cut off, every control has a name", async (width, colorScheme) => {
    const page = await open((await startApp()).url, protocol, { viewport: { width, height: 800 }, colorScheme });
    const shoot = async (name: string): Promise<void> => {
      const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      expect({ name, overflow }).toEqual({ name, overflow: 0 });
      if (pictures !== undefined)
        await page.screenshot({ path: join(pictures, `${protocol}-${width}-${colorScheme}-${name}.png`) });
    };
    await button(page, "help").waitFor();
    await shoot("empty");
    await send(page, "read picture.png");
    await page.getByRole("img", { name: "From agent" }).waitFor();
    await settled(page);
    await shoot("picture");
    await send(page, `write ${"long-".repeat(20)}name.txt`);
    await question(page).waitFor();
    await shoot("question");
    await button(page, "Change …").click();
    await shoot("arguments");
    await button(page, "Allow with these").click();
    await settled(page);
    await page.locator(".call summary").last().click();
    await shoot("result");
    const unnamed = await page.evaluate(
      `[...document.querySelectorAll("button, input, textarea, summary, fieldset")]
        .filter((one) => !(one.textContent || one.ariaLabel || one.closest("label")?.textContent))
        .map((one) => one.outerHTML)`,
    );
    expect(unnamed).toEqual([]);
    await send(page, "slow");
    await log(page).getByText("word9 ").waitFor();
    await shoot("streaming");
  });

  test("a server that is killed while a question waits is looked for, and goes on with the answer once it is back", async () => {
    const root = temporaryFolder("web-chat");
    const chats = temporaryFolder("chats");
    const start = async (port: string): Promise<{ url: string; kill: () => Promise<void> }> => {
      const child = spawn(process.execPath, ["main.ts", root], {
        cwd: fileURLToPath(new URL("../../../examples/web-chat", import.meta.url)),
        env: { PATH: process.env.PATH, CHATS: chats, PORT: port, ...compileCache },
        stdio: ["ignore", "pipe", "inherit"],
      });
      const kill = async (): Promise<void> => {
        const closed = child.exitCode === null && child.signalCode === null ? once(child, "close") : undefined;
        child.kill("SIGKILL");
        await closed;
      };
      onTestFinished(kill);
      const [line] = (await once(child.stdout, "data")) as [Buffer];
      return { url: line.toString().trim(), kill };
    };
    const { url, kill } = await start("0");
    const page = await open(url, protocol);
    await send(page, 'write "A note." to note.txt');
    await question(page).waitFor();
    await kill();
    await button(page, "Allow").click();
    await page.getByRole("status").filter({ hasText: "cannot be reached" }).waitFor();
    await start(new URL(url).port);
    await page.getByRole("status").filter({ hasText: "A question waits" }).waitFor();
    await button(page, "Allow").click();
    await log(page)
      .getByText(/Created .*note\.txt/)
      .last()
      .waitFor();
    await settled(page);
    expect(readFileSync(join(root, "note.txt"), "utf8")).toBe("A note.\n");
  });
});
