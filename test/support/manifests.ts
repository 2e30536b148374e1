import { readdirSync, readFileSync } from 'node:fs'

import { parseAllDocuments } from 'yaml'

export const manifestsFolder = new URL('../../ops/kubernetes/', import.meta.url)

export type Labels = Readonly<Record<string, string>>

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string }
}

interface Container {
  readonly image: string
  readonly command: readonly string[]
  readonly envFrom: readonly Readonly<Record<string, { readonly name: string }>>[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly startupProbe?: Probe
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
  readonly securityContext: object
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
}

interface PodTemplate {
  readonly metadata: { readonly labels: Labels }
  readonly spec: {
    readonly containers: readonly [Container]
    readonly securityContext: object
    readonly terminationGracePeriodSeconds?: number
    readonly topologySpreadConstraints?: readonly {
      readonly labelSelector: { readonly matchLabels: Labels }
    }[]
    readonly volumes?: readonly {
      readonly name: string
      readonly persistentVolumeClaim?: { readonly claimName: string }
    }[]
  }
}

interface Backend {
  readonly service: { readonly name: string; readonly port: { readonly name: string } }
}

/** The parts of manifests that tests read. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Labels }
  readonly data?: Labels
  readonly stringData?: Labels
  readonly spec: {
    readonly template: PodTemplate
    readonly selector: { readonly matchLabels: Labels } & Labels
    readonly ports: readonly { readonly name: string; readonly targetPort?: string }[]
    readonly scaleTargetRef: { readonly kind: string; readonly name: string }
    readonly metrics: readonly { readonly pods: { readonly metric: { readonly name: string } } }[]
    readonly rules: readonly { readonly http: { readonly paths: readonly { readonly backend: Backend }[] } }[]
  }
}

/** Returns the manifests of `ops/kubernetes`, by file. */
export function readManifests(): ReadonlyMap<string, readonly Manifest[]> {
  const files = readdirSync(manifestsFolder).filter(
    name => name.endsWith('.yaml') && name !== 'kustomization.yaml'
  )
  return new Map(
    files.map(file => [
      file,
      parseAllDocuments(readFileSync(new URL(file, manifestsFolder), 'utf8')).map((document): Manifest =>
        document.toJS()
      )
    ])
  )
}
