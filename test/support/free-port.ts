/** Finds a free port for a process that cannot choose one itself, as `0` asks, and report it. */

/** Below the ports that systems give to a process that asks for any: no other test is given one of these by chance. */
const portMin = 20_000
const portMax = 31_999

/** A port of the loopback address that was free a moment ago. @throws Error where one may not listen at all */
export function freePort(): number {
  for (;;) {
    const port = portMin + Math.floor(Math.random() * (portMax - portMin + 1))
    try {
      Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true)
      return port
    } catch (error) {
      // Otherwise no port would ever do.
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
}
