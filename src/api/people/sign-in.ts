import { textField } from '../../model/fields/field.ts'
import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import { addressLimitGroupsOf, addressLimitKeyOf } from '../../platform/outbound/networks.ts'
import { ApiError, TooManyRequests } from '../../platform/runtime/errors.ts'
import { openPasswordThrottle } from '../auth/password-throttle.ts'
import { verifyDummyPassword, verifyPassword } from '../auth/passwords.ts'
import { parseBody } from '../core/parse.ts'
import { apiRoute } from '../core/route.ts'
import {
  type SharedBucketDeps,
  openSharedAddressTokenBuckets,
  openSharedTokenBuckets
} from '../core/shared-buckets.ts'
import {
  accountTag,
  findRequestDevice,
  renderSignedInReply,
  signedInSchema,
  startSignInSession
} from './sessions.ts'

/** Attempts to sign in, successful or not, by address: a burst of 20, then one every three seconds. */
const addressAttempts = openSharedAddressTokenBuckets('sign-in', 1 / 3, 20)
/**
 * Wrong passwords by email address (whether a user has it or not) and client: a burst of ten, then one every 20
 * seconds. Others are not affected.
 */
const clientFailures = openSharedTokenBuckets('password of a client', 1 / 20, 10)
/**
 * Passwords by email address that unknown clients try: a burst of 20, then one every two seconds. Others wait for their
 * turn; known ones do not.
 */
const accountQueue = openPasswordThrottle('password of an account', 1 / 2, 20)

/** Throws 429 after too many attempts of an address. */
export async function limitSignInAttempts(deps: SharedBucketDeps, address: string): Promise<void> {
  const wait = await addressAttempts.take(deps, address)
  if (wait > 0) throw new TooManyRequests(wait)
}

/** Whose password is checked, and for whom. */
interface PasswordCheck {
  /** The key by which Postgres finds the account: `lower(email)`. JavaScript's lower case differs, as for `İ`. */
  readonly account: string
  readonly address: string
  /** What identifies a client that has signed in to the account before; null: none has. */
  readonly knownAs: string | null
}

/**
 * Runs a check of a password of an account. Throws 429 after too many wrong ones of the client, and without running it
 * while that lasts. Wrong ones of other clients delay it at most, unless the client is known.
 */
export async function runLimitedPasswordCheck(
  deps: SharedBucketDeps,
  { account, address, knownAs }: PasswordCheck,
  check: () => Promise<boolean>
): Promise<boolean> {
  const client = `${account} ${knownAs ?? addressLimitKeyOf(address)}`
  const groups = addressLimitGroupsOf(address)
  const assertUnlocked = async () => {
    const wait = await clientFailures.peek(deps, client)
    if (wait > 0) throw new TooManyRequests(wait)
  }
  await assertUnlocked()
  const isBounded = knownAs === null
  const isQueued = isBounded && (await accountQueue.isCrowded(deps, account))
  if (isQueued) await accountQueue.take(deps, account, groups)
  const isRight = await check()
  // Checked again: concurrent guesses all passed the first check.
  await assertUnlocked()
  if (!isRight) await clientFailures.take(deps, client)
  if (isBounded && !isQueued && (!isRight || (await accountQueue.isCrowded(deps, account))))
    await accountQueue.take(deps, account, groups)
  return isRight
}

const wrongPassword = () =>
  ApiError.ofFields([
    { field: 'password', code: 'wrong', message: 'The email address or the password is wrong.' }
  ])

const fields = {
  email: textField({
    min: 1,
    max: 254,
    isTrimmed: true,
    about: 'The email address.',
    example: 'anna@example.com'
  }),
  password: textField({ min: 1, max: 1_000, about: 'The password.', example: 'correct horse battery' })
}
const validator = bodyValidator(fields)

const signIn = apiRoute('POST', '/api/frontend/account/session', 'public', {
  id: 'signIn',
  tag: accountTag,
  summary: 'Sign in with a password: sets the session cookie',
  body: bodySchema(fields),
  response: signedInSchema,
  isSameOriginOnly: true,
  headers: ['cookie'],
  errors: [403, 429],
  async handle(request, services) {
    const { sql } = services
    const { email, password } = parseBody(validator, request.body)
    const { address } = request
    const [found] = await sql<{ account: string; id: number | null; hash: string | null }[]>`
      select account, id, password_hash as hash
      from (select lower(${email}::text) as account) asked left join users on lower(email) = account`
    if (!found) throw new Error('no row')
    const { account, id, hash } = found
    const user = id === null ? null : { id, passwordHash: hash }
    const knownAs = user ? findRequestDevice(request, services, user) : null
    // Others may share the address of a known browser.
    if (knownAs === null) await limitSignInAttempts(services, address)
    const isRight = await runLimitedPasswordCheck(services, { account, address, knownAs }, () =>
      user?.passwordHash ? verifyPassword(user.passwordHash, password) : verifyDummyPassword(password)
    )
    if (!user || !isRight) throw wrongPassword()
    return sql.begin(async tx => {
      // The password may have been changed while it was verified.
      const [current] = await tx`
        select from users where id = ${user.id} and password_hash = ${user.passwordHash} for share`
      if (!current) throw wrongPassword()
      const token = await startSignInSession(tx, user.id, request)
      return renderSignedInReply(tx, request, services, user.id, token)
    })
  }
})

export const signInRoutes = [signIn]
