import type { PermissionMode } from '../../agents/tools/permissions/permission-modes.ts';
import type { AgentBackend } from '../../runtime/ports.ts';

/**
 * A backend whose agents start in the permission mode of the moment, since a client may change it while a session lasts.
 *
 * @param first made for the mode that the session began with
 * @param make makes one for another mode, when it is first needed
 */
export function createModeBackend(
  first: { readonly mode: PermissionMode; readonly backend: AgentBackend },
  current: () => PermissionMode,
  make: (mode: PermissionMode) => Promise<AgentBackend>,
): AgentBackend {
  const made = new Map([[first.mode, Promise.resolve(first.backend)]]);
  const backendFor = (mode: PermissionMode): Promise<AgentBackend> => {
    const backend = made.get(mode) ?? make(mode);
    made.set(mode, backend);
    return backend;
  };
  const { backend } = first;
  return {
    ...backend,
    run: async (request, signal, report) => (await backendFor(current())).run(request, signal, report),
    async close() {
      for (const one of made.values()) await (await one).close();
    },
  };
}
