/** What a change of a contract means, to whom. */

/** `breaking`: what worked may fail. `warning`: it cannot be decided, or matters to some. `info`: neither. */
type Impact = 'info' | 'warning' | 'breaking'
/** Whether protection became stricter or looser; loosening is never automatic, whatever else the change is. */
type AccessImpact = 'none' | 'tightened' | 'loosened'

export interface Finding {
  /** Object and property, as `orders.amount`; '' for the contract. */
  readonly at: string
  /** What changed: `column-dropped`, `required-loosened` and the like. */
  readonly change: string
  /** For who reads the tables. */
  readonly consumer: Impact
  /** For who writes them. */
  readonly producer: Impact
  readonly access: AccessImpact
  /** One sentence without a full stop. */
  readonly message: string
}

/** A change that asks more of producers. */
export const tightened = { consumer: 'info', producer: 'breaking' } as const
/** A change that promises less to consumers. */
export const loosened = { consumer: 'breaking', producer: 'info' } as const
/** A change that breaks both. */
export const replaced = { consumer: 'breaking', producer: 'breaking' } as const
/** A change whose direction cannot be decided. */
export const undecided = { consumer: 'warning', producer: 'warning' } as const
/** A change that breaks nobody. */
export const harmless = { consumer: 'info', producer: 'info' } as const

type Impacts = Pick<Finding, 'consumer' | 'producer'>

/** A finding that concerns no protection. */
export function finding(at: string, change: string, impacts: Impacts, message: string): Finding {
  return { at, change, ...impacts, access: 'none', message }
}

/** A finding about protection: stricter protection hides what consumers saw. */
export function protection(
  at: string,
  change: string,
  access: 'tightened' | 'loosened',
  message: string,
): Finding {
  return {
    at,
    change,
    consumer: access === 'tightened' ? 'breaking' : 'info',
    producer: 'info',
    access,
    message,
  }
}

/** Which way a set of accepted values changed: fewer are accepted, more, both, or as many. */
export type Direction = 'tightened' | 'loosened' | 'both' | 'same' | 'undecided'

const impactsOf = { tightened, loosened, both: replaced, undecided, same: harmless } as const

/** A finding about what values are accepted; none where as many are. */
export function accepted(
  at: string,
  change: string,
  direction: Direction,
  message: string,
): readonly Finding[] {
  if (direction === 'same') return []
  return [
    finding(at, `${change}-${direction === 'both' ? 'changed' : direction}`, impactsOf[direction], message),
  ]
}
