import { text } from '../../fields/field.ts'
import { bodySchema, bodyValidator } from '../../fields/form.ts'
import { ApiError, TooManyRequests } from '../../runtime/errors.ts'
import { pretendToVerify, verifyPassword } from '../../security/passwords.ts'
import { parseBody } from '../core/parse.ts'
import { apiRoute } from '../core/route.ts'
import { type BucketDeps, openSharedAddressBuckets, openSharedBuckets } from '../core/shared-buckets.ts'
import { accountTag, signedInReply, signedInSchema, startSession } from './sessions.ts'

/** Attempts to sign in, successful or not, by address: a burst of 20, then one every three seconds. */
const addressAttempts = openSharedAddressBuckets('sign-in', 1 / 3, 20)
/**
 * Wrong passwords by email address, whether a user has it or not: a burst of ten, then one every 20 seconds.
 * A locked address can sign in again after 20 seconds at most; passkeys and sessions are not affected.
 */
const accountFailures = openSharedBuckets('password', 1 / 20, 10)

/** Throws 429 after too many attempts of an address. */
export async function limitAttempts(deps: BucketDeps, address: string): Promise<void> {
  const wait = await addressAttempts.take(deps, address)
  if (wait > 0) throw new TooManyRequests(wait)
}

/**
 * Runs a check of a password of an account. Throws 429 after too many wrong ones, and without running it while
 * the account is locked.
 */
export async function limitPasswords(
  deps: BucketDeps,
  email: string,
  check: () => Promise<boolean>
): Promise<boolean> {
  const account = email.toLowerCase()
  const assertUnlocked = async () => {
    const wait = await accountFailures.peek(deps, account)
    if (wait > 0) throw new TooManyRequests(wait)
  }
  await assertUnlocked()
  const isRight = await check()
  // Checked again: concurrent guesses all passed the first check.
  await assertUnlocked()
  if (!isRight) await accountFailures.take(deps, account)
  return isRight
}

const wrongPassword = () =>
  ApiError.ofFields([
    { field: 'password', code: 'wrong', message: 'The email address or the password is wrong.' }
  ])

const fields = {
  email: text({
    min: 1,
    max: 254,
    isTrimmed: true,
    about: 'The email address.',
    example: 'anna@example.com'
  }),
  password: text({ min: 1, max: 1_000, about: 'The password.', example: 'correct horse battery' })
}
const validator = bodyValidator(fields)

const signIn = apiRoute('POST', '/api/frontend/account/session', 'public', {
  id: 'signIn',
  tag: accountTag,
  summary: 'Sign in with a password: sets the session cookie',
  body: bodySchema(fields),
  answer: signedInSchema,
  isSameOriginOnly: true,
  errors: [403, 429],
  async handle(request, services) {
    const { sql, config } = services
    const { email, password } = parseBody(validator, request.body)
    await limitAttempts(services, request.address)
    const [user] = await sql<{ id: number; hash: string | null }[]>`
      select id, password_hash as hash from users where lower(email) = lower(${email})`
    const isRight = await limitPasswords(services, email, () =>
      user?.hash ? verifyPassword(user.hash, password) : pretendToVerify(password)
    )
    if (!user || !isRight) throw wrongPassword()
    return sql.begin(async tx => {
      // The password may have been changed while it was verified.
      const [current] = await tx`
        select from users where id = ${user.id} and password_hash = ${user.hash} for share`
      if (!current) throw wrongPassword()
      const token = await startSession(tx, user.id, request)
      return signedInReply(tx, config.BASE_URL, user.id, token)
    })
  }
})

export const signInRoutes = [signIn]
