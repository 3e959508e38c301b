/** Runs a part of a benchmark in a child process. The parent sends orders over IPC; each gets a result. */

/** The kinds of orders. */
type Kinds<Order extends { readonly kind: string }> = Order['kind']

export interface Child<Order extends { readonly kind: string }, Results extends Record<Kinds<Order>, unknown>>
  extends AsyncDisposable {
  /** Throws an Error with what failed in the child. */
  ask<K extends Kinds<Order>>(order: Order & { readonly kind: K }): Promise<Results[K]>
  /** Ends it at once, whatever it is doing. */
  kill(): void
}

/**
 * Starts the process. The first order must be `open`.
 * @param what names it in errors
 * @param env beside the environment of this process; undefined takes a variable out
 */
export function startChild<
  Order extends { readonly kind: string },
  Results extends Record<Kinds<Order>, unknown>,
>(
  script: string,
  what: string,
  env: Readonly<Record<string, string | undefined>> = {},
): Child<Order, Results> {
  let pending: PromiseWithResolvers<unknown> | undefined
  const child = Bun.spawn([process.execPath, script], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
    ipc(message: { result?: unknown; error?: string }) {
      if (message.error === undefined) pending?.resolve(message.result)
      else pending?.reject(new Error(`${what}: ${message.error}`))
    },
    onExit(_process, code) {
      pending?.reject(new Error(`${what} ended (${code})`))
    },
  })
  return {
    async ask(order) {
      pending = Promise.withResolvers()
      child.send(order)
      return (await pending.promise) as never
    },
    kill: () => child.kill('SIGKILL'),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) child.disconnect()
      await child.exited
    },
  }
}

/** A child's state after `open`. */
export interface Opened<Order> {
  readonly result: unknown
  readonly serve: (order: Order) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** The child's side: runs orders until the parent ends, then closes and exits. */
export function obeyParent<Order extends { readonly kind: string }>(
  open: (order: Order & { readonly kind: 'open' }) => Promise<Opened<Order>>,
): void {
  let opened: Opened<Order> | undefined
  const isOpen = (order: Order): order is Order & { readonly kind: 'open' } => order.kind === 'open'
  const obey = async (order: Order): Promise<unknown> => {
    if (opened !== undefined) return await opened.serve(order)
    if (!isOpen(order)) throw new Error('the process is not open yet')
    opened = await open(order)
    return opened.result
  }
  process.on('message', (order: Order) => {
    obey(order).then(
      (result) => process.send?.({ result }),
      (error: unknown) =>
        process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    )
  })
  // An interrupt reaches the parent too, which then ends this process in order, with everything cleaned up.
  process.on('SIGINT', () => {})
  process.on('disconnect', () => {
    void Promise.resolve(opened?.close()).finally(() => process.exit(0))
  })
}
