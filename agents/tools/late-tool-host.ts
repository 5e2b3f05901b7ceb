import { createPermissions, type Permissions } from './permissions/permissions.ts';
import type { ToolHost, ToolHostOptions } from './tool-host.ts';

/** A {@link ToolHost} that is made, and whose code is loaded, with the first tool call. */
export interface LateToolHost {
  readonly permissions: Permissions;
  get(): Promise<ToolHost>;
  /** Closes it if it was made. */
  close(): Promise<void>;
}

/** @throws WorkflowError `USAGE_INVALID` for a permission rule that means nothing */
export function lateToolHost(options: ToolHostOptions = {}): LateToolHost {
  const permissions = createPermissions(options.permissions);
  let host: Promise<ToolHost> | undefined;
  return {
    permissions,
    get() {
      host ??= import('./tool-host.ts').then((module) => new module.ToolHost(permissions, options.shell));
      return host;
    },
    async close() {
      const made = await host;
      host = undefined;
      await made?.close();
    },
  };
}
