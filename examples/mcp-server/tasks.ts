import { existsSync, readFileSync } from "node:fs";
import { defineTool, type ExecutableTool, toolOutput } from "@toolcrib/core";
import { createPathScope, withFileLock, writeAtomically } from "@toolcrib/kit/files";

interface Task {
  readonly id: number;
  readonly title: string;
  readonly done: boolean;
}

const id = { type: "integer", minimum: 1, description: "From list_tasks" } as const;
const withId = { type: "object", properties: { id }, required: ["id"], additionalProperties: false } as const;

/** Tools over a list of tasks in one JSON file. Two servers can share it: each change is made under a lock, and whole or not at all. */
export function createTaskTools(file: string): ExecutableTool[] {
  const scope = createPathScope();
  const read = (): Task[] => (existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Task[]) : []);
  const change = (update: (tasks: Task[]) => Task[]): Promise<void> =>
    withFileLock(`${file}.lock`, async () => {
      const path = await scope.resolve(file);
      await writeAtomically(path, `${JSON.stringify(update(read()), undefined, 2)}\n`, { scope });
    });
  /** Throws what the model can act on. */
  const find = (tasks: readonly Task[], wanted: number): Task => {
    const task = tasks.find((one) => one.id === wanted);
    if (task) return task;
    throw new Error(`There is no task ${wanted}; list_tasks shows which there are.`);
  };

  return [
    defineTool({
      name: "list_tasks",
      description: "List the tasks with their ids.",
      parameters: { type: "object", properties: {}, additionalProperties: false },
      readOnly: true,
      execute: () => {
        const tasks = read();
        const lines = tasks.map((task) => `${task.id} [${task.done ? "x" : " "}] ${task.title}`);
        return toolOutput(lines.join("\n") || "(no tasks)", { data: { tasks } });
      },
    }),
    defineTool({
      name: "add_task",
      description: "Add a task.",
      parameters: {
        type: "object",
        properties: { title: { type: "string", minLength: 1, maxLength: 200, description: "One line" } },
        required: ["title"],
        additionalProperties: false,
      },
      async execute({ title }) {
        let added = 0;
        await change((tasks) => {
          added = Math.max(0, ...tasks.map((task) => task.id)) + 1;
          return [...tasks, { id: added, title, done: false }];
        });
        return `Added task ${added}.`;
      },
    }),
    defineTool({
      name: "finish_task",
      description: "Mark a task as done.",
      parameters: withId,
      idempotent: true,
      async execute({ id: wanted }) {
        await change((tasks) => {
          const finished = find(tasks, wanted);
          return tasks.map((task) => (task === finished ? { ...task, done: true } : task));
        });
        return `Task ${wanted} is done.`;
      },
    }),
    defineTool({
      name: "delete_task",
      description: "Delete a task for good.",
      parameters: withId,
      destructive: true,
      async execute({ id: wanted }) {
        await change((tasks) => {
          const deleted = find(tasks, wanted);
          return tasks.filter((task) => task !== deleted);
        });
        return `Task ${wanted} is deleted.`;
      },
    }),
  ];
}
