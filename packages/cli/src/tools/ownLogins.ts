import { createOAuthStore, type OAuthStore } from "@toolcrib/mcp/oauth";
import type { Folders } from "../state/folders.ts";
import { loginsFile, makeStateFolder } from "../state/stateFolder.ts";

export function ownLogins(folders: Folders): OAuthStore {
  const file = (): OAuthStore => {
    makeStateFolder(folders);
    return createOAuthStore(loginsFile(folders));
  };
  return {
    // Nothing is made for a look.
    load: (url) => createOAuthStore(loginsFile(folders)).load(url),
    save: async (url, login) => file().save(url, login),
    exclusively: async (task) => file().exclusively(task),
  };
}
