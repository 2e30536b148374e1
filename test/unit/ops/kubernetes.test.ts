import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

import { entries } from '../../../scripts/build.mjs'
import { statusRoutes } from '../../../src/api/admin/status.ts'
import { parseConfig, configVariableNames } from '../../../src/config.ts'
import { whyWithout } from '../../support/foreign-programs.ts'
import { type Labels, manifestsFolder, readManifests } from '../../support/manifests.ts'
import { readAllMetrics } from '../../support/metrics.ts'
import { isDeep } from '../../support/tier.ts'

const read = (file: string) => readFileSync(new URL(file, manifestsFolder), 'utf8')
const files = readManifests()
const manifests = [...files.values()].flat()
const ofKind = (...kinds: string[]) => manifests.filter(({ kind }) => kinds.includes(kind))
const withPods = ofKind('Deployment', 'Job')
const config = ofKind('ConfigMap').at(0)?.data ?? {}

/** The workloads whose pods have these labels. */
const select = (labels: Labels) =>
  withPods.filter(({ spec }) =>
    Object.entries(labels).every(([name, value]) => spec.template.metadata.labels[name] === value)
  )

test('the kustomization has every manifest but those that an operator completes first', () => {
  const { resources, images }: { resources: string[]; images: { name: string; newTag: string }[] } = parse(
    read('kustomization.yaml')
  )
  const later = ['secret.example.yaml', 'stream.yaml']
  expect([...resources, ...later].toSorted()).toEqual([...files.keys()].toSorted())
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  )
  expect(images).toEqual([{ name: 'cuewire', newTag: version }])
})

test('all variables exist and are valid', () => {
  const secrets = ofKind('Secret').at(0)?.stringData ?? {}
  const names = [...Object.keys(config), ...Object.keys(secrets)]
  expect(names.filter(name => !configVariableNames.includes(name))).toEqual([])
  expect(new Set(names).size).toBe(names.length)
  expect(parseConfig({ ...config, ...secrets }).TRUSTED_PROXIES).not.toEqual([])
})

test('pods run programs of the build with the shared variables, and without privileges', () => {
  expect(withPods.map(({ metadata }) => metadata.name).toSorted()).toEqual([
    'cuewire-migrate',
    'cuewire-server',
    'cuewire-workers'
  ])
  for (const { spec } of withPods) {
    const { containers, securityContext } = spec.template.spec
    const [container] = containers
    expect(entries).toContain(container.command.at(-1)?.replace(/^dist\/(.*)\.js$/, '$1.ts'))
    expect(container.envFrom).toEqual([
      { configMapRef: { name: 'cuewire' } },
      { secretRef: { name: 'cuewire' } }
    ])
    // What the level `restricted` of the namespace requires, and a read-only file system.
    expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    expect(container.securityContext).toEqual({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] }
    })
  }
})

test('selectors match pods, and claims and volumes exist', () => {
  const claims = ofKind('PersistentVolumeClaim').map(({ metadata }) => metadata.name)
  const budgets = ofKind('PodDisruptionBudget')
  for (const { metadata, spec } of ofKind('Deployment')) {
    const { template, selector } = spec
    const constraints = template.spec.topologySpreadConstraints ?? []
    const budget = budgets.find(each => each.metadata.name === metadata.name)
    const selectors = [
      selector,
      ...constraints.map(({ labelSelector }) => labelSelector),
      ...(budget ? [budget.spec.selector] : [])
    ]
    expect(selectors).toHaveLength(3)
    for (const { matchLabels } of selectors)
      expect(select(matchLabels).map(each => each.metadata.name)).toEqual([metadata.name])
    const { volumes = [], containers } = template.spec
    expect(containers[0].volumeMounts?.map(({ mountPath }) => mountPath)).toEqual([
      '/tmp',
      '/data',
      '/data/stations',
      '/data/uploads'
    ])
    const names = volumes.map(({ name }) => name)
    for (const { name } of containers[0].volumeMounts ?? []) expect(names).toContain(name)
    const claimed = volumes.flatMap(({ persistentVolumeClaim: claim }) => (claim ? [claim.claimName] : []))
    expect(claims).toEqual(expect.arrayContaining(claimed))
  }
})

test('services, routes and probes name ports that exist', () => {
  const services = ofKind('Service')
  const slices = ofKind('EndpointSlice').map(
    ({ metadata }) => metadata.labels?.['kubernetes.io/service-name']
  )
  for (const { metadata, spec } of services) {
    if (slices.includes(metadata.name)) continue
    const [workload, ...others] = select(spec.selector)
    expect(others).toEqual([])
    const ports = workload?.spec.template.spec.containers[0].ports?.map(({ name }) => name)
    for (const { targetPort } of spec.ports) expect(ports).toContain(targetPort)
  }
  for (const { spec } of ofKind('Ingress'))
    for (const { http } of spec.rules)
      for (const { backend } of http.paths) {
        const service = services.find(({ metadata }) => metadata.name === backend.service.name)
        expect(service?.spec.ports.map(({ name }) => name)).toContain(backend.service.port.name)
      }
  const paths = statusRoutes.map(({ path }) => path)
  for (const { spec } of ofKind('Deployment')) {
    const { ports = [], startupProbe, livenessProbe, readinessProbe } = spec.template.spec.containers[0]
    expect(ports.find(({ name }) => name === 'metrics')?.containerPort).toBe(Number(config['METRICS_PORT']))
    for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
      expect(probe).toBeDefined()
      if (!probe?.httpGet) continue
      expect(paths).toContain(probe.httpGet.path)
      expect(ports.map(({ name }) => name)).toContain(probe.httpGet.port)
    }
  }
})

test('pods that stop have the time they need', () => {
  for (const { spec } of ofKind('Deployment'))
    expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(
      Number(config['DRAIN_SECONDS']) + 5
    )
})

test('the autoscaler scales the servers by a metric that exists, which the adapter offers', async () => {
  const [scaler, ...others] = ofKind('HorizontalPodAutoscaler')
  expect(others).toEqual([])
  const { kind, name } = scaler?.spec.scaleTargetRef ?? {}
  expect(ofKind(String(kind)).map(({ metadata }) => metadata.name)).toContain(name)
  const metric = scaler?.spec.metrics.at(0)?.pods.metric.name
  expect((await readAllMetrics()).map(each => each.name)).toContain(metric)
  const { rules }: { rules: { custom: { seriesQuery: string; name: { as: string } }[] } } = parse(
    read('monitoring/prometheus-adapter.yaml')
  )
  expect(rules.custom.map(({ name: { as } }) => as)).toEqual([metric])
  expect(rules.custom[0]?.seriesQuery).toBe(`${metric}{namespace!="",pod!=""}`)
  // Without a fixed number, which each `kubectl apply` would restore.
  expect(ofKind('Deployment').find(({ metadata }) => metadata.name === name)?.spec).not.toHaveProperty(
    'replicas'
  )
})

describe.runIf(isDeep && whyWithout('kubernetes-validate') === null)('kubernetes-validate', () => {
  test.for(['1.29', '1.32', '1.37'])('accepts all manifests for Kubernetes %s', async version => {
    const paths = [...files.keys()].map(file => fileURLToPath(new URL(file, manifestsFolder)))
    const args = ['--strict', '--quiet', '--kubernetes-version', version, ...paths]
    const run = promisify(execFile)('kubernetes-validate', args, { timeout: 60_000 })
    // It ends with 1 after a complaint.
    await expect(run).resolves.toMatchObject({ stdout: '' })
  })
})
