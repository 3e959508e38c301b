/** Holds what policies see of one commit: first without manifest facts, and with them once one was asked for. */

import type { PolicyBindings } from './evaluate.ts'
import {
  type AskedFacts,
  type ManifestFacts,
  type ReadManifestFacts,
  withManifestFacts,
} from './manifest-facts.ts'

export class SeenCommit {
  #bindings: PolicyBindings
  #facts: ManifestFacts | undefined
  /** Whether a policy asked for facts that nobody reads here. */
  lacksFacts = false

  constructor(
    bindings: PolicyBindings,
    private readonly readFacts: ReadManifestFacts | undefined,
    /** By any policy of the commit, because the facts are read once. */
    private readonly asked: AskedFacts,
  ) {
    this.#bindings = bindings
  }

  get bindings(): PolicyBindings {
    return this.#bindings
  }

  get hasFacts(): boolean {
    return this.#facts !== undefined
  }

  /** Why some facts are missing. */
  get problem(): string | undefined {
    return this.#facts?.problem
  }

  /** Reads the facts, and adds them to what policies see. */
  async askFacts(): Promise<PolicyBindings> {
    this.lacksFacts = this.readFacts === undefined
    this.#facts = (await this.readFacts?.(this.asked)) ?? {
      values: {},
      problem: 'the manifests are not read here',
    }
    this.#bindings = { ...this.#bindings, commit: withManifestFacts(this.#bindings.commit, this.#facts) }
    return this.#bindings
  }
}
