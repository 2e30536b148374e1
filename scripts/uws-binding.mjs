/**
 * Which package holds the binary of uWebSockets.js for a platform. Imports nothing that has to be installed, since
 * `run.mjs` asks before anything is.
 */

/**
 * `node` is a version like `24.21.0`, `glibc` one like `2.41`: empty on macOS, and where the C library is another one.
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

/** What else this program uses of Node is there since this version. */
const oldestNode = '20.19'

/** This process's platform. */
export function thisPlatform() {
  return {
    platform: process.platform,
    arch: process.arch,
    node: process.versions.node,
    glibc: process.platform === 'linux' ? findGlibc() : ''
  }
}

/**
 * Returns the name of the package, null where none fits.
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
 * Says in one line, without an end, why there is no binding and what helps.
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
  // Other network interfaces and sockets are looked up by name.
  process.report.excludeNetwork = true
  // The report contains a stack trace, which is not used here. Resolving it through source maps takes 40 ms.
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
