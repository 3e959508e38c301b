/**
 * A value that must not be printed. Only `reveal()` returns it, so every use can be searched for. JSON, templates,
 * console.log, pino and structured cloning see a placeholder or nothing.
 */

const placeholder = '[secret]'

export class Secret<T = string> {
  readonly #value: T

  constructor(value: T) {
    this.#value = value
  }

  /** The value itself; never pass the result to a log, an error or a response. */
  reveal(): T {
    return this.#value
  }

  toJSON(): string {
    return placeholder
  }

  toString(): string {
    return placeholder
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return placeholder
  }
}
