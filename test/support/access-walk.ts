/** Walks random steps of access for a time on a driver, and compares after each what is seen with the oracle. */

import { expect } from 'bun:test'
import { foresee, newOracle, type Oracle, type Outcome, sees } from './access-oracle.ts'
import {
  applyStep,
  drawStep,
  firstWorld,
  names,
  type Step,
  type TenantName,
  tenants,
  type Who,
  type World,
} from './access-world.ts'
import { generator } from './generator.ts'

/** What is walked: the service's own code, on some store. */
export interface AccessDriver {
  /** Carries a step out. The world is the one before it. */
  readonly carryOut: (step: Step, world: World) => Promise<Outcome>
  /** The second replica reads what governs the tables, and goes by that until it is called again. */
  readonly refresh: (world: World) => Promise<void>
  /** The cells that somebody sees on a replica, as the oracle names them. */
  readonly read: (
    world: World,
    of: { readonly tenant: TenantName; readonly name: string; readonly who: Who; readonly isLate: boolean },
  ) => Promise<readonly string[]>
}

interface Walk {
  readonly steps: number
  /** Reads that are compared after each step. */
  readonly reads: number
  readonly clones: boolean
}

/**
 * Walks one sequence.
 * @returns how many grants it made, and how many reads saw more by one
 */
export async function walkAccess(
  seed: number,
  open: (world: World) => Promise<AccessDriver>,
  { steps, reads, clones }: Walk,
): Promise<{ readonly granted: number; readonly lifted: number }> {
  const random = generator(seed)
  // The first numbers of neighboring seeds are alike.
  for (let index = 0; index < 8; index++) random()
  const world = firstWorld()
  const oracle = newOracle()
  const driver = await open(world)
  let late = { world: structuredClone(world), given: structuredClone(oracle.given) }
  const walked: Step[] = []
  let lifted = 0
  for (let index = 0; index < steps; index++) {
    const drawn = drawStep(world, random, drawnOf(oracle), { clones })
    walked.push(drawn)
    const about = () => `seed ${seed}: ${JSON.stringify(walked)}`
    const outcome = await driver.carryOut(drawn, world)
    const foreseen = foresee(oracle, world, drawn)
    if (outcome !== foreseen) expect(`${outcome} ${about()}`).toBe(foreseen)
    applyStep(world, drawn)
    if (drawn.do === 'refresh') {
      await driver.refresh(world)
      late = { world: structuredClone(world), given: structuredClone(oracle.given) }
    }
    for (let read = 0; read < reads; read++) {
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
      const roles = ['analyst', 'officer'].filter(() => random() < 0.4)
      const who = { sub: pick(['ann', 'bob', 'cid']), roles }
      const of = { tenant: pick(tenants), name: pick(names), who, isLate: random() < 0.3 }
      const then = of.isLate ? late : { world, given: oracle.given }
      const [seen, may] = [await driver.read(world, of), sees(world, then, of)]
      if (!Bun.deepEquals(seen, may))
        expect({ seen, of, about: about() }).toEqual({ seen: may, of, about: about() } as never)
      if (then.given.length > 0 && !Bun.deepEquals(may, sees(world, { ...then, given: [] }, of))) lifted++
    }
  }
  return { granted: oracle.given.length, lifted }
}

function drawnOf({ asked, given }: Oracle) {
  const count = (list: readonly { readonly tenant: TenantName }[]) => ({
    ours: list.filter(({ tenant }) => tenant === 'ours').length,
    theirs: list.filter(({ tenant }) => tenant === 'theirs').length,
  })
  return { requests: count(asked), grants: count(given), ends: given.map(({ untilMs }) => untilMs) }
}
