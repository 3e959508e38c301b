/** Waits until a condition holds; the test's timeout is the bound. */

/** Asks again until `ask` gives something other than undefined or false. */
export async function eventually<T>(
  ask: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    await Bun.sleep(10)
  }
}
