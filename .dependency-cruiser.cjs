/** The layers of docs/design/architecture.md, as rules. Imports point down only; path = permission. */
const LOCAL = ['local'];

module.exports = {
  forbidden: [
    {
      name: 'protocol-stands-alone',
      comment:
        'protocol/ holds formats: it imports nothing but its schema library and the canonical JSON it is defined by.',
      severity: 'error',
      from: { path: '^protocol/' },
      to: { pathNot: ['^protocol/', 'node_modules/(zod|canonicalize)/'] },
    },
    {
      name: 'dsl-is-pure',
      comment: 'dsl/ runs inside the isolate: no Node, no library, no host code.',
      severity: 'error',
      from: { path: '^dsl/' },
      to: { pathNot: ['^dsl/', '^protocol/'] },
    },
    {
      name: 'runtime-looks-down',
      comment: 'runtime/ knows ports, not adapters and not faces.',
      severity: 'error',
      from: { path: '^runtime/' },
      to: { dependencyTypes: LOCAL, pathNot: ['^(runtime|dsl|protocol)/', '^package[.]json$'] },
    },
    {
      name: 'adapters-know-ports-only',
      comment: 'agents/, cache/ and emitters/ import protocol/ and runtime/ports.ts, and never one another.',
      severity: 'error',
      from: { path: '^(agents|cache|emitters)/' },
      to: { dependencyTypes: LOCAL, pathNot: ['^$1/', '^protocol/', '^runtime/ports[.]ts$'] },
    },
    {
      name: 'faces-stand-apart',
      comment:
        'hosts/ and web/ are faces of one library that know nothing of each other; cli/ starts them, and nothing imports cli/.',
      severity: 'error',
      from: { path: '^(hosts|web)/' },
      to: { dependencyTypes: LOCAL, path: '^(cli|hosts|web)/', pathNot: '^$1/' },
    },
    {
      name: 'index-is-the-outside',
      comment: 'index.ts is what users import; nothing inside may.',
      severity: 'error',
      from: { pathNot: ['^test/', '^bench/'] },
      to: { path: '^index[.]ts$' },
    },
    {
      name: 'product-knows-no-tests',
      severity: 'error',
      from: { path: '^(protocol|dsl|runtime|agents|cache|emitters|cli|hosts|web|index[.]ts)' },
      to: { dependencyTypes: LOCAL, path: '^(test|bench|tools|examples)/' },
    },
    {
      name: 'one-door-to-the-isolate',
      comment:
        'isolated-vm is touched inside the sandbox process only: in another process one line of script could abort it.',
      severity: 'error',
      from: { pathNot: '^runtime/sandbox/child/' },
      to: { path: 'node_modules/isolated-vm/' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'everything-resolves', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|temp)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
