/** A workflow that runs, as `background_tasks_changed` lists it. */
export interface BackgroundTask {
  readonly task_id: string;
  readonly task_type: 'local_workflow';
  readonly description: string;
}

/** The workflows that run in one session, shared by their emitters. */
export interface BackgroundTasks {
  add(task: BackgroundTask): void;
  remove(taskId: string): void;
  list(): readonly BackgroundTask[];
}

/** Makes an empty set; a session with several workflows gives the same one to all of its emitters. */
export function createBackgroundTasks(): BackgroundTasks {
  const running = new Map<string, BackgroundTask>();
  return {
    add: (task) => void running.set(task.task_id, task),
    remove: (taskId) => void running.delete(taskId),
    list: () => [...running.values()],
  };
}
