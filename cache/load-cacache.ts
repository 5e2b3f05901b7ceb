/** Loads the library of the shared results, which only few commands need. (In a bundle it has its default export only.) */
export async function loadCacache(): Promise<typeof import('cacache')> {
  return (await import('cacache')).default;
}
