/** The benchmarks in a process of their own, for the tests that start them. */

const main = new URL('../../bench/main.ts', import.meta.url).pathname

/** Runs the command to its end. */
export async function bench(...args: readonly string[]) {
  const child = Bun.spawn([process.execPath, main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { code: await child.exited, out, err }
}
