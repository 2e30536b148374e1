/**
 * Selects the package with the binary of uWebSockets.js for a platform. Imports no packages, because
 * `run.mjs` uses it before they are installed.
 */

/**
 * `node` is a version like `24.21.0`, `glibc` like `2.41`, or empty on macOS and with another C library.
 *
 * @typedef {{
 *   readonly platform: string,
 *   readonly arch: string,
 *   readonly node: string,
 *   readonly glibc: string
 * }} Platform
 */

/** Newest first. The names are aliases in package.json. */
const bindings = [
  { name: 'uWebSockets.js-20.69', nodeMajors: [22, 24, 26], glibc: '2.38' },
  { name: 'uWebSockets.js', nodeMajors: [20, 22, 23], glibc: '2.27' }
]

/** Major versions of Node with a binary. */
export const supportedNodes = [...new Set(bindings.flatMap(({ nodeMajors }) => nodeMajors))]

/** Required by other parts of this program. */
const oldestNode = '20.19'

/** The platform of this process. */
export function thisPlatform() {
  return {
    platform: process.platform,
    arch: process.arch,
    node: process.versions.node,
    glibc: process.platform === 'linux' ? findGlibc() : ''
  }
}

/**
 * Returns the name of the package; null if there is none.
 *
 * @param {Platform} platform
 */
export function chooseBinding({ platform, arch, node, glibc }) {
  if (arch !== 'x64' && arch !== 'arm64') return null
  if (platform !== 'darwin' && platform !== 'linux') return null
  if (!isAtLeast(node, oldestNode)) return null
  const major = Number.parseInt(node, 10)
  const fits = bindings.find(
    each => each.nodeMajors.includes(major) && (platform === 'darwin' || isAtLeast(glibc, each.glibc))
  )
  return fits?.name ?? null
}

/**
 * Explains on one line, without a period, why there is no binding and what to do.
 *
 * @param {Platform} platform
 */
export function explainNoBinding({ platform, arch, node, glibc }) {
  if (platform !== 'linux' && platform !== 'darwin')
    return `uWebSockets.js runs on Linux and macOS only here (this is ${platform}): use one of them, WSL on Windows`
  if (arch !== 'x64' && arch !== 'arm64')
    return `uWebSockets.js has no binary for ${arch}: use a machine with x64 or arm64`
  if (platform === 'linux' && glibc === '')
    return 'uWebSockets.js has no binary for this C library (musl, as on Alpine): use a Linux with glibc, like Debian or Ubuntu'
  if (platform === 'linux' && !isAtLeast(glibc, '2.27'))
    return `uWebSockets.js needs glibc 2.27 or later (this is ${glibc}): use a newer Linux, like Debian 12`
  if (!isAtLeast(node, oldestNode)) return `Node ${node} is older than ${oldestNode}: install Node 22`
  const libc = platform === 'linux' ? ` and glibc ${glibc}` : ''
  const newer =
    platform === 'linux' && !isAtLeast(glibc, '2.38')
      ? ', or a Linux with glibc 2.38 (Debian 13, Ubuntu 24.04)'
      : ''
  return `uWebSockets.js has no binary for Node ${Number.parseInt(node, 10)}${libc}: install Node 22${newer}`
}

function findGlibc() {
  // Otherwise the report resolves host names.
  process.report.excludeNetwork = true
  // Avoids the stack trace of the report, which takes 40 ms to resolve through source maps.
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  const { header } = Object(process.report.getReport())
  Error.stackTraceLimit = limit
  const { glibcVersionRuntime: version } = Object(header)
  return typeof version === 'string' ? version : ''
}

/**
 * @param {string} version
 * @param {string} least
 */
function isAtLeast(version, least) {
  if (version === '') return false
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [leastMajor = 0, leastMinor = 0] = least.split('.').map(Number)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
}
