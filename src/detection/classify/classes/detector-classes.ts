/** Lists the classes of sensitive values, each with its detector. */

import type { SensitiveClass } from '../../../core/classification.ts'
import { creditCard } from './credit-card.ts'
import type { DetectorClass } from './detector-class.ts'
import { email } from './email.ts'
import { iban } from './iban.ts'
import { phone } from './phone.ts'
import { usSsn } from './us-ssn.ts'

export const detectorClasses: Readonly<Record<SensitiveClass, DetectorClass>> = {
  us_ssn: usSsn,
  email,
  credit_card: creditCard,
  phone,
  iban,
}
