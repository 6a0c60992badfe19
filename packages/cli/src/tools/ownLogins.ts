import { createOAuthStore, type OAuthStore } from "@toolcrib/mcp/oauth";
import { loginsFile, makeStateFolder } from "../state/stateFolder.ts";

/** Opens the user's logins at servers, for all directories. */
export function ownLogins(env: NodeJS.ProcessEnv): OAuthStore {
  const file = (): OAuthStore => {
    makeStateFolder(env);
    return createOAuthStore(loginsFile(env));
  };
  return {
    // Nothing is made for a look.
    load: (url) => createOAuthStore(loginsFile(env)).load(url),
    save: async (url, login) => file().save(url, login),
    exclusively: async (task) => file().exclusively(task),
  };
}
