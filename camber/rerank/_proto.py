import numpy as np
from camber.bend.mixtures.mixture import Mixture
def maximum_likelihood(points, kernels, *, seed, engine, iters=6):
    rng=np.random.default_rng(seed)
    M=1; means=points.mean(0,keepdims=True); var=np.maximum(points.var(0,keepdims=True),1e-3); pri=np.ones(1)
    glob=np.maximum(points.var(0),1e-3)
    while True:
        for _ in range(iters):
            lp=np.log(pri)-0.5*np.log(var).sum(1)
            logs=lp-0.5*((points**2)@(1/var).T-2*points@(means/var).T+(means**2/var).sum(1))
            logs-=logs.max(1,keepdims=True); p=np.exp(logs); p/=p.sum(1,keepdims=True)
            n=p.sum(0)+1e-9; means=(p.T@points)/n[:,None]; var=(p.T@points**2)/n[:,None]-means**2
            var=np.maximum(var,0.01*glob); pri=n/n.sum()
        if M*2>kernels: break
        sd=np.sqrt(var); means=np.concatenate([means+0.2*sd,means-0.2*sd]); var=np.concatenate([var,var]); pri=np.concatenate([pri,pri])/2; M*=2
    return Mixture(means,var,np.log(pri))
def perceptron(points,best,oracle,*,most):
    diff=np.flatnonzero((best!=oracle)&(best>=0))
    if 2*len(diff)>most:
        n=max(1,most//2); diff=diff[np.arange(n)*len(diff)//n]
    rows=np.column_stack([best[diff],oracle[diff]]).ravel()
    return Mixture(points[rows], np.maximum(points.var(0,keepdims=True),1e-6), np.full(len(rows),-np.log(max(1,len(rows)))), np.repeat(diff,2))
